import { run } from "../../lib/cli/program.ts";
import { ADMIN_TOKEN, type Relay } from "../helpers/program.ts";

/** Runs a command line in this process, as if both outputs were a terminal. */
export async function inTerminal(
  relay: Relay,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  const texts = { out: "", err: "" };
  const decoder = new TextDecoder();
  const sink = (name: "out" | "err") => ({
    isTerminal: true,
    columns: () => 100,
    write: (data: string | Uint8Array) => {
      texts[name] += typeof data === "string" ? data : decoder.decode(data);
    },
  });
  const settings: Record<string, string> = { HOLDFAST_URL: relay.origin, ADMIN_TOKEN, ...env };
  const code = await run(args, {
    env: (name) => settings[name],
    out: sink("out"),
    err: sink("err"),
    nowMs: Date.now,
    readFile: Deno.readFile,
    writeFile: Deno.writeFile,
    readInput: () => Promise.resolve(new Uint8Array()),
  });
  return { code, ...texts };
}
