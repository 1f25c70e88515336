import type { Action } from "../sim/plan.ts";
import { type Report, simulate } from "../sim/simulation.ts";

/** Simulates a plan without chance or faults: only what the test is about. */
export function runOf(processes: number, actions: readonly Action[], seed = 1): Promise<Report> {
  return simulate(
    {
      seed,
      processes,
      leaseMs: 60_000,
      skewMs: 0,
      chaosMs: 40_000,
      actions: [...actions],
    },
    (kv) => kv,
    "perfect",
  );
}

export function post(endpoint: string, atMs: number, event: number, slot = 0): Action {
  return { do: "post", atMs, endpoint, event, slot, bytes: 20 };
}

/** What the target got, in order of arrival: seconds since the start, and the delivery. */
export function arrivals({ story }: Report): { atS: number; id: string }[] {
  return story.flatMap((line) => {
    const id = / gets (\S+) /.exec(line)?.[1];
    return id === undefined ? [] : [{ atS: Number.parseFloat(line), id }];
  });
}
