import { RelayProcess } from "./process.ts";

/** One entry of `ENDPOINTS`, as an operator writes it. */
export type EndpointSettings = { id: string; targetUrl: string } & Record<string, unknown>;

export interface RelaySetup {
  endpoints?: readonly EndpointSettings[];
  env?: Record<string, string>;
  /** A store that another relay owns; without it the relay gets one of its own. */
  kvPath?: string;
  /** Another file to run than `main.ts`. */
  main?: string;
}

export const ADMIN_TOKEN = "operator-of-the-tests";

function environment(setup: RelaySetup, kvPath: string): Record<string, string> {
  return {
    HOST: "127.0.0.1",
    PORT: "0",
    KV_PATH: kvPath,
    ENDPOINTS: JSON.stringify(setup.endpoints ?? []),
    ADMIN_TOKEN,
    ALLOW_PRIVATE_TARGETS: "1",
    ...setup.env,
  };
}

/** The program under test: processes one after the other on one store. */
export class Relay implements AsyncDisposable {
  readonly #folder: string;
  readonly kvPath: string;
  #setup: RelaySetup;
  #process!: RelayProcess;
  #earlierOutput = "";
  /** The port of the running process; another one after each restart. */
  port = 0;

  private constructor(setup: RelaySetup) {
    this.#folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });
    this.kvPath = setup.kvPath ?? `${this.#folder}/relay.db`;
    this.#setup = setup;
  }

  static async start(setup: RelaySetup): Promise<Relay> {
    const relay = new Relay(setup);
    try {
      await relay.#spawn();
    } catch (error) {
      await relay[Symbol.asyncDispose]();
      throw error;
    }
    return relay;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** What all processes wrote so far. */
  get output(): string {
    return this.#earlierOutput + this.#process.output;
  }

  get exit(): Promise<number> {
    return this.#process.exit;
  }

  rssBytes(): number {
    return this.#process.rssBytes();
  }

  openSockets(): number {
    return this.#process.openSockets();
  }

  /** Sends a signal without waiting for its effect. */
  signal(signal: Deno.Signal): void {
    this.#process.signal(signal);
  }

  /** Ends the process and waits for it; returns the exit code. */
  kill(signal: "SIGKILL" | "SIGTERM"): Promise<number> {
    this.#process.signal(signal);
    return this.#process.exit;
  }

  /** Ends the process unless it has ended, and starts one on the same store. */
  async restart(changes: Omit<RelaySetup, "kvPath"> = {}): Promise<void> {
    await this.kill("SIGKILL");
    this.#earlierOutput += this.#process.output;
    this.#setup = { ...this.#setup, ...changes };
    await this.#spawn();
  }

  /** Calls a route of the operator's API, `/deliveries` for example. */
  api(path: string, init: RequestInit = {}): Promise<Response> {
    return this.asOperator(`/api/v1${path}`, init);
  }

  /** Calls any route with the admin token. */
  asOperator(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${ADMIN_TOKEN}`);
    return fetch(this.origin + path, { ...init, headers });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill("SIGKILL");
    Deno.removeSync(this.#folder, { recursive: true });
  }

  async #spawn(): Promise<void> {
    const env = environment(this.#setup, this.kvPath);
    this.#process = new RelayProcess(env, this.#folder, this.#setup.main);
    this.port = (await this.#process.listening()).port;
  }
}

/** Starts the program and waits until it listens. */
export const startRelay = (setup: RelaySetup = {}): Promise<Relay> => Relay.start(setup);

/** Runs a program that must not start; returns how it ended and what it wrote. */
export async function runToExit(
  setup: RelaySetup,
): Promise<{ code: number; output: string }> {
  const folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });
  const process = new RelayProcess(
    environment(setup, setup.kvPath ?? `${folder}/relay.db`),
    folder,
  );
  const timer = setTimeout(() => process.signal("SIGKILL"), 20_000);
  try {
    return { code: await process.exit, output: process.output };
  } finally {
    clearTimeout(timer);
    Deno.removeSync(folder, { recursive: true });
  }
}
