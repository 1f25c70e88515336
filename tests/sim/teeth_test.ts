import assert from "node:assert/strict";
import { group } from "../helpers/group.ts";
import { planOf } from "./plan.ts";
import { simulate } from "./simulation.ts";
import { KV_FAULTS } from "./teeth/kv_faults.ts";
import { SOURCE_FAULTS, type SourceFault } from "./teeth/source_faults.ts";

/** More than are run without a fault: a fault that hardly shows may hide from those. */
const SEEDS = 400;
const text = new TextDecoder();
const ROOT = new URL("../../", import.meta.url).pathname;

for (const { name, tamper } of KV_FAULTS) {
  Deno.test(`the simulation notices that ${name}`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { violations } = await simulate(planOf(seed), tamper);
      if (violations.length > 0) return;
    }
    assert.fail(`${SEEDS} seeds saw nothing`);
  });
}

group("the simulation notices a program in which", async (behaviour) => {
  using program = await ProgramCopy.make();
  for (const fault of SOURCE_FAULTS) {
    await behaviour(fault.name, async () => {
      const { code, output } = await program.simulateWith(fault);
      assert.match(output, /^seed \d+ fails: /, output);
      assert.equal(code, 1);
    });
  }
});

/** What the simulation needs, in one folder for all faults: the runtime reads the rest once. */
class ProgramCopy implements Disposable {
  readonly #folder = Deno.makeTempDirSync({ prefix: "holdfast-teeth-" });

  static async make(): Promise<ProgramCopy> {
    const program = new ProgramCopy();
    for (const part of ["deno.json", "deno.lock", "lib", "tests/sim"]) {
      await copy(`${ROOT}${part}`, `${program.#folder}/${part}`);
    }
    return program;
  }

  async simulateWith(
    { path, find, put, from = 1 }: SourceFault,
  ): Promise<{ code: number; output: string }> {
    const source = Deno.readTextFileSync(`${ROOT}${path}`);
    assert(source.includes(find), `cannot put a fault into ${path}: it has changed`);
    Deno.writeTextFileSync(`${this.#folder}/${path}`, source.replace(find, put));
    try {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--no-check", "-A", "tests/sim/main.ts", "--quick"],
          ...["--from", `${from}`, "--seeds", `${SEEDS}`],
        ],
        cwd: this.#folder,
      }).output();
      return { code, output: [stdout, stderr].map((bytes) => text.decode(bytes)).join("") };
    } finally {
      Deno.writeTextFileSync(`${this.#folder}/${path}`, source);
    }
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#folder, { recursive: true });
  }
}

async function copy(from: string, to: string): Promise<void> {
  if (!Deno.statSync(from).isDirectory) return Deno.copyFileSync(from, to);
  Deno.mkdirSync(to, { recursive: true });
  for (const { name } of Deno.readDirSync(from)) await copy(`${from}/${name}`, `${to}/${name}`);
}
