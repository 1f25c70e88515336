import type { Relay } from "../helpers/program.ts";

/** Debian's package `faketime` puts it into the folder of the machine's architecture. */
function findLibrary(): string | undefined {
  if (Deno.build.os !== "linux") return undefined;
  for (const { name } of Deno.readDirSync("/usr/lib")) {
    const path = `/usr/lib/${name}/faketime/libfaketimeMT.so.1`;
    try {
      if (Deno.statSync(path).isFile) return path;
    } catch {
      // Another architecture's folder, or no folder.
    }
  }
  return undefined;
}

const LIBRARY = findLibrary();

/**
 * The wall clock of programs that are started with `env`: ahead of the real one by what a file
 * says, which they read whenever they ask for the time. Their durations stay real.
 */
export class SteppingClock implements Disposable {
  readonly #folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });
  readonly #file = `${this.#folder}/offset`;
  readonly #pids = new Set<number>();
  #aheadS = 0;

  constructor() {
    this.step(0);
  }

  get env(): Record<string, string> {
    return {
      LD_PRELOAD: LIBRARY ?? "",
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    };
  }

  /** Steps at once and for all; half a file is never read. */
  step(byS: number): void {
    this.#aheadS += byS;
    const next = `${this.#file}.next`;
    Deno.writeTextFileSync(next, `${this.#aheadS < 0 ? "" : "+"}${this.#aheadS}`);
    Deno.renameSync(next, this.#file);
  }

  /** Has what the library leaves of a killed program removed at the end. */
  follow({ pid }: Relay): void {
    this.#pids.add(pid);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#folder, { recursive: true });
    for (const pid of this.#pids) {
      for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`]) {
        try {
          Deno.removeSync(`/dev/shm/${name}`);
        } catch (error) {
          if (!(error instanceof Deno.errors.NotFound)) throw error;
        }
      }
    }
  }
}

/** Declares a test that steps a clock; without the library it is counted as ignored. */
export function clockTest(name: string, fn: () => Promise<void>): void {
  const holds = LIBRARY !== undefined;
  Deno.test({
    name: holds ? name : `${name} (needs the library of the package faketime)`,
    ignore: !holds,
    sanitizeOps: true,
    sanitizeResources: true,
    fn,
  });
}
