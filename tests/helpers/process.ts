import { until } from "./wait.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Variables that the runtime itself needs to find its cache and certificates. */
const PASSED_ON = ["PATH", "HOME", "DENO_DIR", "DENO_CERT", "DENO_TLS_CA_STORE", "SSL_CERT_FILE"];

/** Flags of the `start` task, so that tests run with the permissions of production. */
function startFlags(): string[] {
  const { tasks } = JSON.parse(Deno.readTextFileSync(`${ROOT}deno.json`)) as {
    tasks: Record<string, string | { command: string }>;
  };
  const task = tasks.start;
  const command = typeof task === "string" ? task : task?.command ?? "";
  const flags = /deno run (.*?)main\.ts/.exec(command)?.[1];
  return flags?.trim().split(/\s+/) ??
    ["--no-prompt", "--allow-net", "--allow-env", "--allow-read", "--allow-write", "--allow-sys"];
}

/** One run of the real program as a child process. Whoever spawns it must end it. */
export class RelayProcess {
  readonly #child: Deno.ChildProcess;
  readonly #collected: Promise<void>[];
  readonly #texts = { stdout: "", stderr: "" };
  #code: number | undefined;
  /** Settles with the exit code once the process and its output have ended. */
  readonly exit: Promise<number>;

  constructor(env: Record<string, string>, cwd: string, main: string = `${ROOT}main.ts`) {
    const runtime = PASSED_ON.flatMap((name) => {
      const value = Deno.env.get(name);
      return value === undefined ? [] : [[name, value]];
    });
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--config", `${ROOT}deno.json`, ...startFlags(), main],
      cwd,
      clearEnv: true,
      env: { ...Object.fromEntries(runtime), ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#collected = [
      this.#collect("stdout", this.#child.stdout),
      this.#collect("stderr", this.#child.stderr),
    ];
    this.exit = this.#ended();
  }

  get pid(): number {
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#code !== undefined;
  }

  /** Everything written so far, each stream in its own order. */
  get output(): string {
    return this.#texts.stdout + this.#texts.stderr;
  }

  get lines(): string[] {
    return this.output.split("\n").filter((line) => line !== "");
  }

  /** The address from the log line with event "listening"; throws if the program ends instead. */
  listening(withinMs = 30_000): Promise<{ port: number }> {
    return until(() => {
      const found = this.lines.map(parseLine).find((line) => line?.event === "listening");
      if (found === undefined && this.hasEnded) {
        throw new Error(`the relay ended with code ${this.#code} at start:\n${this.output}`);
      }
      return found as { port: number } | undefined;
    }, { withinMs, what: () => `the relay to listen; it wrote:\n${this.output}` });
  }

  /** Sends a signal; one that has ended already is left alone. */
  signal(signal: Deno.Signal): void {
    if (!this.hasEnded) this.#child.kill(signal);
  }

  /** Resident memory in bytes (Linux). */
  rssBytes(): number {
    const status = Deno.readTextFileSync(`/proc/${this.pid}/status`);
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  /** Sockets the process holds open (Linux). */
  openSockets(): number {
    const folder = `/proc/${this.pid}/fd`;
    return [...Deno.readDirSync(folder)].filter(({ name }) =>
      readLink(`${folder}/${name}`).startsWith("socket:")
    ).length;
  }

  async #collect(
    name: "stdout" | "stderr",
    stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  ): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) this.#texts[name] += text;
  }

  async #ended(): Promise<number> {
    const { code } = await this.#child.status;
    await Promise.all(this.#collected);
    this.#code = code;
    return code;
  }
}

function parseLine(line: string): { event?: unknown } | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Descriptors may close between listing and reading. */
function readLink(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return "";
  }
}
