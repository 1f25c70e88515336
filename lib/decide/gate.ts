import { type BreakerState, isProbing, mayProbe } from "./breaker.ts";
import type { HealthState } from "./health.ts";

/** What decides whether a lane may send. */
export interface GatedLane {
  paused: boolean;
  health: HealthState;
  breaker: BreakerState;
}

/** What a lane may do now; `untilMs` is when it is worth looking again. */
export type Gate =
  | { go: "all" }
  | { go: "probe" }
  | { go: "none"; why: "paused" | "disabled" | "open" | "probing"; untilMs?: number };

/** Decides what a lane may do at `nowMs`. An operator's word comes before the breaker's. */
export function gate(lane: GatedLane, nowMs: number): Gate {
  const { paused, health, breaker } = lane;
  if (paused) return { go: "none", why: "paused" };
  if (health.status === "disabled") return { go: "none", why: "disabled" };
  if (breaker.phase === "closed") return { go: "all" };
  if (mayProbe(breaker, nowMs)) return { go: "probe" };
  return isProbing(breaker, nowMs)
    ? { go: "none", why: "probing", untilMs: breaker.probe?.untilMs }
    : { go: "none", why: "open", untilMs: breaker.openUntilMs };
}
