import { type BreakerState, CLOSED } from "../breaker.ts";
import type { Trouble } from "./answer.ts";
import type { Drift } from "./drift.ts";
import { freshProgress, type Progress } from "./scan.ts";

/** All that is known of one watched hook. Changed only by the process that holds the lease. */
export interface WatchRow {
  progress: Progress;
  breaker: BreakerState;
  nextPassAtMs: number;
  lease?: { owner: string; untilMs: number };
  /** The last pass that read the history. */
  checkedAtMs?: number;
  /** Why the last pass could not do its work; absent where it could. */
  trouble?: StandingTrouble;
  /** Events that came here after they had been missing. */
  repaired: number;
  health: HealthVerdict;
}

/** A trouble that has lasted for `count` passes. */
export interface StandingTrouble extends Trouble {
  sinceMs: number;
  count: number;
}

/** How the hook is set up at GitHub, as it was last seen. */
export interface HealthVerdict {
  nextCheckAtMs: number;
  /** Absent while nothing has been seen: unchecked. */
  checkedAtMs?: number;
  drifts: Drift[];
  /** Since when there is any drift. */
  sinceMs?: number;
}

export function freshWatch(startedAtMs: number): WatchRow {
  return {
    progress: freshProgress(startedAtMs),
    breaker: CLOSED,
    nextPassAtMs: startedAtMs,
    repaired: 0,
    health: { nextCheckAtMs: startedAtMs, drifts: [] },
  };
}

/** The outcome of a pass as it is kept: a trouble begins, goes on, or is over. */
export function afterPass(row: WatchRow, trouble: Trouble | undefined, nowMs: number): WatchRow {
  const { trouble: before, ...rest } = row;
  if (trouble === undefined) return rest;
  const sinceMs = before?.sinceMs ?? nowMs;
  return { ...rest, trouble: { ...trouble, sinceMs, count: (before?.count ?? 0) + 1 } };
}

const CHECK_EVERY_MS = 15 * 60_000;

/** The verdict after a check that was made. One that is held back leaves the last as it is. */
export function afterCheck(health: HealthVerdict, drifts: Drift[], nowMs: number): HealthVerdict {
  return {
    nextCheckAtMs: nowMs + CHECK_EVERY_MS,
    checkedAtMs: nowMs,
    drifts,
    sinceMs: drifts.length === 0 ? undefined : health.sinceMs ?? nowMs,
  };
}

/** The earliest that a pass may follow another one. */
export const MIN_PAUSE_MS = 10_000;

interface NextPass {
  intervalMs: number;
  /** The pass ended with pages or repairs left that could be done now. */
  isUnfinished: boolean;
  /** When the next repair is due. */
  nextRepairAtMs?: number;
}

/** When the next pass is due. */
export function nextPassAtMs(
  { breaker }: WatchRow,
  { intervalMs, isUnfinished, nextRepairAtMs = Infinity }: NextPass,
  nowMs: number,
): number {
  const soonestMs = nowMs + MIN_PAUSE_MS;
  if (breaker.phase === "open") return Math.max(soonestMs, breaker.openUntilMs ?? 0);
  if (isUnfinished) return soonestMs;
  return Math.max(soonestMs, Math.min(nowMs + intervalMs, nextRepairAtMs));
}
