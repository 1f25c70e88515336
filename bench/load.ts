import type { Spread } from "./numbers.ts";

/** What the load generator is to send: whichever of `seconds` and `posts` comes first ends it. */
export interface LoadPlan {
  port: number;
  bodyBytes: number;
  connections: number;
  seconds: number;
  posts: number;
  /** Posts a second; without it every connection sends as fast as it is answered. */
  perSecond?: number;
  /** Number of the first post; the sink tells posts apart by their numbers. */
  firstNumber: number;
  /** Part of all event ids, so that runs on one store are no repeats of each other. */
  run: string;
}

/** What it saw; times are those of the answers. */
export interface LoadResult extends Spread {
  sent: number;
  accepted: number;
  statuses: Record<string, number>;
  /** Numbers of the posts that got no 202. */
  unanswered: number[];
  firstSentAtMs: number;
  seconds: number;
  /** CPU time the load generator itself took. */
  cpuMs: number;
}

/** As many connections as the figures of the benchmark are given for. */
export const CONNECTIONS = 64;

let runs = 0;

/** Runs the load generator as a process of its own. */
export async function load(
  plan: Partial<LoadPlan> & Pick<LoadPlan, "port" | "bodyBytes">,
): Promise<LoadResult> {
  const whole: LoadPlan = {
    connections: CONNECTIONS,
    seconds: 600,
    posts: Number.MAX_SAFE_INTEGER,
    firstNumber: 0,
    run: `${Deno.pid}-${runs++}`,
    ...plan,
  };
  const script = new URL("programs/load.ts", import.meta.url).pathname;
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "-A", script, JSON.stringify(whole)],
    stdin: "null",
    stderr: "inherit",
  }).output();
  if (code !== 0) throw new Error(`cannot send the load: the generator ended with ${code}`);
  return JSON.parse(new TextDecoder().decode(stdout));
}
