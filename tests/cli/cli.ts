import { type Bytes, utf8 } from "../helpers/bytes.ts";
import { ADMIN_TOKEN, type Relay } from "../helpers/program.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Variables that the runtime itself needs to find its cache. */
const PASSED_ON = ["PATH", "HOME", "DENO_DIR", "DENO_CERT", "DENO_TLS_CA_STORE", "SSL_CERT_FILE"];

export interface Ended {
  code: number;
  stdout: string;
  /** Standard output as bytes. */
  bytes: Uint8Array;
  stderr: string;
}

export interface CliOptions {
  env?: Record<string, string>;
  input?: Bytes;
}

/** Flags of the `cli` task, so that tests run with its permissions. */
function flags(): string[] {
  const { tasks } = JSON.parse(Deno.readTextFileSync(`${ROOT}deno.json`)) as {
    tasks: Record<string, string>;
  };
  const given = /deno run (.*?)cli\.ts/.exec(tasks.cli)?.[1];
  if (given === undefined) throw new Error("deno.json has no task cli");
  return given.trim().split(/\s+/);
}

/** Starts the command line as a child process; whoever does so must let it end. */
export function spawnCli(relay: Relay | undefined, args: string[], options: CliOptions = {}) {
  const runtime = PASSED_ON.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--config", `${ROOT}deno.json`, ...flags(), `${ROOT}cli.ts`, ...args],
    clearEnv: true,
    env: {
      ...Object.fromEntries(runtime),
      ...relay === undefined ? {} : { HOLDFAST_URL: relay.origin },
      ADMIN_TOKEN,
      ...options.env,
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** Runs one command line to its end. */
export async function cli(
  relay: Relay | undefined,
  args: string[],
  options: CliOptions = {},
): Promise<Ended> {
  const child = spawnCli(relay, args, options);
  const writer = child.stdin.getWriter();
  // A command that reads no input may be gone before it is written.
  await writer.write(utf8(options.input ?? "")).catch(() => {});
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, bytes: stdout, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Values that were written as one line of JSON each. */
export const jsonLines = <T = Record<string, unknown>>(text: string): T[] =>
  text.trimEnd().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as T);
