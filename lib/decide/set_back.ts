import type { BreakerSettings } from "../endpoint.ts";
import { LIMITS } from "../limits.ts";
import type { Delivery } from "../model.ts";
import { breakerAfter } from "./breaker.ts";
import type { LaneRow } from "./lane.ts";

/**
 * What is stored after a clock was set back: times of before lie ahead, and waiting for them
 * would take as long as the step. Nothing here shortens a wait that began by the present clock.
 */

/**
 * Older than anything that came since the step, which is noticed within a sweep: in an
 * ordered lane what was there before stays in front.
 */
const BEFORE_THE_STEP_MS = 2 * LIMITS.sweepMs;

/**
 * A waiting delivery with its wait begun anew at `nowMs`, where it began ahead of that; it is
 * due at once where it waited for nothing but its turn. `undefined`: nothing is to be changed.
 */
export function waitingAnew(delivery: Delivery, nowMs: number): Delivery | undefined {
  const { state, dueAtMs, notBeforeMs } = delivery;
  if (state !== "pending" || dueAtMs === undefined) return undefined;
  const sinceMs = waitsSince(delivery, dueAtMs);
  const isAhead = (sinceMs ?? dueAtMs) > nowMs + LIMITS.clockErrorMs;
  if (!isAhead) return undefined;
  if (sinceMs === undefined) return { ...delivery, dueAtMs: nowMs - BEFORE_THE_STEP_MS };
  const backMs = sinceMs - nowMs;
  const asked = notBeforeMs === undefined ? {} : { notBeforeMs: notBeforeMs - backMs };
  return { ...delivery, dueAtMs: dueAtMs - backMs, ...asked };
}

/** The end of the attempt that set the due time; `undefined` where none did. */
function waitsSince({ attempts, notBeforeMs }: Delivery, dueAtMs: number): number | undefined {
  const setBy = notBeforeMs === dueAtMs
    ? attempts.at(-1)
    : attempts.findLast(({ retryAtMs }) => retryAtMs === dueAtMs);
  return setBy && setBy.atMs + setBy.ms;
}

/** A lane's row in which no breaker waits longer than it was opened for, and no lease. */
export function rowSetBack(
  row: LaneRow,
  nowMs: number,
  leaseMs: number,
  settings: BreakerSettings,
): LaneRow {
  const breaker = settings === false
    ? row.breaker
    : breakerAfter(row.breaker, { type: "set_back", atMs: nowMs, leaseMs }, settings);
  const next = breaker === row.breaker ? row : { ...row, breaker };
  return shortened(shortened(next, "lease", nowMs + leaseMs), "knocker", nowMs + leaseMs);
}

function shortened(row: LaneRow, name: "lease" | "knocker", untilMs: number): LaneRow {
  const lease = row[name];
  if (lease === undefined || lease.untilMs <= untilMs + LIMITS.clockErrorMs) return row;
  return { ...row, [name]: { ...lease, untilMs } };
}
