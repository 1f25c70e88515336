/** Runs a program of the system; whether it succeeded. */
function run(program: string, ...args: string[]): boolean {
  try {
    return new Deno.Command(program, { args, stdout: "null", stderr: "null" }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** A small file system in memory, for a store of its own. Needs the right to mount one. */
export class SmallDisk implements Disposable {
  readonly folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });
  readonly #filler = `${this.folder}/filler`;

  private constructor(size: string) {
    if (!run("mount", "-t", "tmpfs", "-o", `size=${size}`, "none", this.folder)) {
      Deno.removeSync(this.folder);
      throw new Error("cannot mount a file system");
    }
  }

  static mount(size = "64m"): SmallDisk {
    return new SmallDisk(size);
  }

  get kvPath(): string {
    return `${this.folder}/relay.db`;
  }

  /** Leaves so much room. */
  fill(leftBytes = 0): void {
    run("dd", "if=/dev/zero", `of=${this.#filler}`, "bs=4096");
    Deno.truncateSync(this.#filler, Deno.statSync(this.#filler).size - leftBytes);
  }

  makeRoom(): void {
    Deno.removeSync(this.#filler);
  }

  /** Makes it read-only, or writable again. Nothing on it may be open for writing. */
  remount(mode: "ro" | "rw"): void {
    if (!run("mount", "-o", `remount,${mode}`, this.folder)) throw new Error("cannot remount");
  }

  [Symbol.dispose](): void {
    run("umount", "-l", this.folder);
    Deno.removeSync(this.folder);
  }
}

/** Takes the right to write away from open files, too, or gives it back (`chattr +i`). */
export const setImmutable = (paths: readonly string[], immutable: boolean): boolean =>
  run("chattr", immutable ? "+i" : "-i", ...paths);

const canMount = (): boolean => {
  try {
    SmallDisk.mount()[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
};

/** Whether an immutable file refuses writes through a descriptor that was open before. */
function canFreeze(): boolean {
  const path = Deno.makeTempFileSync({ prefix: "holdfast-test-" });
  using file = Deno.openSync(path, { write: true });
  try {
    if (!setImmutable([path], true)) return false;
    file.writeSync(new Uint8Array(1));
    return false;
  } catch {
    return true;
  } finally {
    setImmutable([path], false);
    Deno.removeSync(path);
  }
}

const NEEDS = {
  mount: { holds: canMount(), text: "needs the right to mount" },
  chattr: { holds: canFreeze(), text: "needs chattr and a file system that knows it" },
};

/** Declares a test that needs something of the machine; without it, it is counted as ignored. */
export function machineTest(
  need: keyof typeof NEEDS,
  name: string,
  fn: () => Promise<void>,
): void {
  const { holds, text } = NEEDS[need];
  Deno.test({
    name: holds ? name : `${name} (${text})`,
    ignore: !holds,
    sanitizeOps: true,
    sanitizeResources: true,
    fn,
  });
}
