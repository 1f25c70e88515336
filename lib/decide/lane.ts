import type { BreakerSettings } from "../endpoint.ts";
import { type BreakerState, CLOSED } from "./breaker.ts";
import { type HealthState, HEALTHY } from "./health.ts";

/** What is stored of a lane. All processes share it; it changes only with the lane's fate. */
export interface LaneRow {
  /** Fingerprint of the target it tells of; the URL itself may hold a credential. */
  target: string;
  breaker: BreakerState;
  health: HealthState;
  pausedAtMs?: number;
  /** Set when the breaker closes: what waited since before goes out once, ahead of its time. */
  recovery?: { atMs: number };
  /** The one process that looks whether an open lane's target listens again. */
  knocker?: { owner: string; untilMs: number };
  /** Ordered lanes: the one process that works here. */
  lease?: { owner: string; untilMs: number };
  /** Ordered lanes: the delivery that blocks the rest until it is settled. */
  head?: LaneHead;
}

/** A head and its round: once settled it is no head any more, even if it is replayed. */
export interface LaneHead {
  id: string;
  attemptsBefore: number;
}

/** Whether two are the same round of the same delivery, or both none. */
export function isSameHead(a: LaneHead | undefined, b: LaneHead | undefined): boolean {
  return a?.id === b?.id && a?.attemptsBefore === b?.attemptsBefore;
}

/** A lane that nothing is known of. */
export function freshLane(target: string): LaneRow {
  return { target, breaker: CLOSED, health: HEALTHY };
}

/**
 * A row as it came from the store, with the shared constants in place of their copies, so
 * that a success of a healthy lane is seen to change nothing.
 */
export function canonical(row: LaneRow): LaneRow {
  const { breaker, health } = row;
  const quiet = breaker.phase === "closed" && breaker.failures === 0;
  const well = health.status === "enabled" && health.streak === 0;
  return { ...row, breaker: quiet ? CLOSED : breaker, health: well ? HEALTHY : health };
}

/**
 * A stored row seen with the present target: another target starts with a fresh breaker
 * and health, and what waited for the old one goes out at once.
 */
export function forTarget(row: LaneRow, target: string, nowMs: number): LaneRow {
  if (row.target === target) return row;
  return { ...row, target, breaker: CLOSED, health: HEALTHY, recovery: { atMs: nowMs } };
}

/** Applies a change of the breaker; a closing one starts the recovery. */
export function withBreaker(row: LaneRow, breaker: BreakerState, nowMs: number): LaneRow {
  if (breaker === row.breaker) return row;
  const closes = row.breaker.phase === "open" && breaker.phase === "closed";
  return { ...row, breaker, ...(closes ? { recovery: { atMs: nowMs } } : {}) };
}

/** The breaker as the gate sees it: a lane without one is never open. */
export function breakerIn(row: LaneRow, settings: BreakerSettings): BreakerState {
  return settings === false ? CLOSED : row.breaker;
}

/** Takes a probe back that was not made after all. */
export function withoutProbe(row: LaneRow, owner: string, deliveryId: string): LaneRow {
  const { probe, ...breaker } = row.breaker;
  return probe?.owner === owner && probe.deliveryId === deliveryId ? { ...row, breaker } : row;
}

/** Whether a leased part of the row is this process's to take or to keep. */
export function isFree(
  lease: { owner: string; untilMs: number } | undefined,
  owner: string,
  nowMs: number,
): boolean {
  return lease === undefined || lease.owner === owner || lease.untilMs <= nowMs;
}
