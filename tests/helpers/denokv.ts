import { pause, until } from "./wait.ts";

/** What processes and this one say to get in; it must have twelve characters at least. */
const ACCESS_TOKEN = "token-of-the-tests";
const INSTALL = "cargo install denokv --locked";

const MISSING = `needs denokv on the PATH or in ~/.cargo/bin: ${INSTALL}`;

/** Where the `denokv` server is installed; `undefined` where it is not. */
export function denokvProgram(): string | undefined {
  const folders = Deno.env.get("PATH")?.split(":") ?? [];
  const cargo = Deno.env.get("CARGO_HOME") ?? `${Deno.env.get("HOME")}/.cargo`;
  return [...folders, `${cargo}/bin`].map((folder) => `${folder}/denokv`).find(isFile);
}

/** Declares a test that needs the server; it is counted as ignored where there is none. */
export function denokvTest(name: string, fn: () => Promise<void>): void {
  const ignore = denokvProgram() === undefined;
  Deno.test({
    name: ignore ? `${name} (${MISSING})` : name,
    ignore,
    sanitizeOps: true,
    sanitizeResources: true,
    fn,
  });
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** A real `denokv` server on a database of its own: runs one after the other on one port. */
export class DenoKvServer implements AsyncDisposable {
  readonly #program: string;
  readonly #folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });
  #child!: Deno.ChildProcess;
  #output!: Promise<void>;
  #text = "";
  #port = 0;

  private constructor(program: string) {
    this.#program = program;
  }

  static async start(): Promise<DenoKvServer> {
    const program = denokvProgram();
    if (program === undefined) throw new Error(MISSING);
    const server = new DenoKvServer(program);
    await server.start();
    return server;
  }

  /** `KV_PATH` of whoever uses it. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** What else a process needs in its environment. */
  get env(): { DENO_KV_ACCESS_TOKEN: string } {
    return { DENO_KV_ACCESS_TOKEN: ACCESS_TOKEN };
  }

  /** A connection of this process, which has the token in its environment from then on. */
  open(): Promise<Deno.Kv> {
    Deno.env.set("DENO_KV_ACCESS_TOKEN", ACCESS_TOKEN);
    return Deno.openKv(this.url);
  }

  /** Starts the program on the same port and database as before. */
  async start(): Promise<void> {
    this.#text = "";
    this.#child = new Deno.Command(this.#program, {
      args: [
        ...["--sqlite-path", `${this.#folder}/kv.db`, "serve"],
        ...["--addr", `127.0.0.1:${this.#port}`, "--access-token", ACCESS_TOKEN],
      ],
      env: { RUST_LOG: "info" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#output = this.#collect(this.#child.stderr);
    this.#port = await until(() => /Listening on \S+:(\d+)/.exec(this.#text)?.[1], {
      what: () => `denokv to listen; it wrote:\n${this.#text}`,
    }).then(Number);
  }

  /** Ends it at once; what was under way gets no answer. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.status;
    await this.#output;
  }

  /** Is away for a while. */
  async away(ms: number): Promise<void> {
    await this.kill();
    await pause(ms);
    await this.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    Deno.removeSync(this.#folder, { recursive: true });
  }

  async #collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) this.#text += text;
  }
}
