import assert from "node:assert/strict";
import { planOf } from "./plan.ts";
import { simulate } from "./simulation.ts";
import { KV_FAULTS } from "./teeth/kv_faults.ts";
import { SOURCE_FAULTS, type SourceFault } from "./teeth/source_faults.ts";

/** More than are run without a fault: a fault that hardly shows may hide from those. */
const SEEDS = 400;
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

for (const fault of SOURCE_FAULTS) {
  Deno.test(`the simulation notices a program in which ${fault.name}`, async () => {
    const folder = Deno.makeTempDirSync({ prefix: "holdfast-teeth-" });
    try {
      await copyWith(fault, folder);
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--no-check", "-A", "tests/sim/main.ts", "--quick"],
          ...["--from", `${fault.from ?? 1}`, "--seeds", `${SEEDS}`],
        ],
        cwd: folder,
      }).output();
      const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
      assert.match(output, /^seed \d+ fails: /, output);
      assert.equal(code, 1);
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  });
}

/** Copies what the simulation needs, with the fault in it. */
async function copyWith({ path, find, put }: SourceFault, folder: string): Promise<void> {
  for (const part of ["deno.json", "deno.lock", "lib", "tests/sim"]) {
    await copy(`${ROOT}${part}`, `${folder}/${part}`);
  }
  const source = Deno.readTextFileSync(`${folder}/${path}`);
  assert(source.includes(find), `cannot put a fault into ${path}: it has changed`);
  Deno.writeTextFileSync(`${folder}/${path}`, source.replace(find, put));
}

async function copy(from: string, to: string): Promise<void> {
  if (!Deno.statSync(from).isDirectory) return Deno.copyFileSync(from, to);
  Deno.mkdirSync(to, { recursive: true });
  for (const { name } of Deno.readDirSync(from)) await copy(`${from}/${name}`, `${to}/${name}`);
}
