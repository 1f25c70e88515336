import config from "../deno.json" with { type: "json" };

/** The repository's root. */
export const ROOT = new URL("../", import.meta.url).pathname;
const START_MS = 30_000;
const LOOK_MS = 5;

/** A program that the benchmark runs beside itself, listening on a loopback port. */
export interface Child extends AsyncDisposable {
  pid: number;
  port: number;
  /** Whether it has ended by itself or was ended. */
  hasEnded(): boolean;
  /** Ends it and waits until it is gone. */
  end(signal?: Deno.Signal): Promise<void>;
}

export interface Launch {
  /** Path from the repository's root, and arguments. */
  args: readonly string[];
  port: number;
  flags: readonly string[];
  env?: Readonly<Record<string, string>>;
  cwd?: string;
}

/** Starts a program; `listening` waits for its port. */
export function spawn(launch: Launch): Child {
  const [script, ...args] = launch.args;
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--config", `${ROOT}deno.json`, ...launch.flags, ROOT + script, ...args],
    env: launch.env,
    cwd: launch.cwd,
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  let ended = false;
  process.status.then(() => ended = true);
  const end = async (signal: Deno.Signal = "SIGKILL") => {
    if (!ended) process.kill(signal);
    await process.status;
  };
  return {
    pid: process.pid,
    port: launch.port,
    hasEnded: () => ended,
    end,
    [Symbol.asyncDispose]: () => end(),
  };
}

/** Starts a program and waits until its port takes connections. Throws after 30 s, or if it ends. */
export async function start(launch: Launch): Promise<Child> {
  const child = spawn(launch);
  const endMs = performance.now() + START_MS;
  while (!await takesConnections(launch.port)) {
    if (child.hasEnded() || performance.now() > endMs) {
      await child.end();
      throw new Error(`cannot start ${launch.args[0]}: nothing listens on port ${launch.port}`);
    }
    await pause(LOOK_MS);
  }
  return child;
}

async function takesConnections(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return true;
  } catch {
    return false;
  }
}

/** A loopback port that was free a moment ago. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Flags of the `start` task, so that the program runs as in production. */
export function startFlags(): string[] {
  const found = /deno run (.*?)main\.ts/.exec(config.tasks.start);
  if (found === null) throw new Error("cannot read the start task: it does not run main.ts");
  return found[1].trim().split(/\s+/);
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
