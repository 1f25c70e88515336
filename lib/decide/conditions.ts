import type { BreakerState } from "./breaker.ts";
import type { HealthState } from "./health.ts";

export type ConditionType =
  | "oldest_pending_age"
  | "dead_letters"
  | "breaker_open"
  | "endpoint_failing"
  | "endpoint_disabled"
  | "endpoint_paused"
  | "endpoint_removed"
  | "queue_unavailable"
  | "store_errors"
  | "sweep_late"
  | "prune_behind"
  | "watchdog_failing"
  | "app_config_drift";

export type Severity = "info" | "warning" | "critical";

/** Something an operator may want to look at. */
export interface Condition {
  type: ConditionType;
  severity: Severity;
  sinceMs: number;
  /** How many things it tells of: deliveries, errors, lanes. */
  count: number;
  /** What it is about, an endpoint mostly; absent where it is the whole relay. */
  subject?: string;
  detail: string;
}

/** One lane as the status sees it. Counts end at a bound and are then "at least". */
export interface LaneSnapshot {
  endpoint: string;
  health: HealthState;
  pausedAtMs?: number;
  breaker: BreakerState;
  waiting: number;
  oldestWaitingAtMs?: number;
  dead: number;
  oldestDeadAtMs?: number;
}

/** Deliveries of an endpoint that left the configuration. */
export interface RemovedLane {
  endpoint: string;
  /** Relay mode: where it went, without its query. */
  target?: string;
  waiting: number;
  oldestWaitingAtMs?: number;
}

/** All that the conditions are decided from. */
export interface Snapshot {
  nowMs: number;
  lanes: readonly LaneSnapshot[];
  removed: readonly RemovedLane[];
  /** `sinceMs` is when the queue was found to be away; absent while it is not. */
  queue: { asked: boolean; unavailableSinceMs?: number };
  /** Failed reads and writes of this process lately. */
  storeErrors: { count: number; firstAtMs?: number };
  /** Time since all lanes were last looked at. */
  sweptAgoMs: number;
  /** Since when pruning has not caught up. */
  pruneBehindSinceMs?: number;
}

const MINUTE_MS = 60_000;

/** A delivery that waits longer has met more than a cold start or a deploy. */
const OLD_MS = 15 * MINUTE_MS;
/** One that waits longer is about to outlive what senders and people expect. */
const VERY_OLD_MS = 24 * 60 * MINUTE_MS;
/** Three sweeps missed. */
const SWEEP_LATE_MS = 3 * MINUTE_MS;

/** Decides what is worth an operator's attention, in no order. */
export function conditionsOf(snapshot: Snapshot): Condition[] {
  return [
    ...snapshot.lanes.flatMap((lane) => laneConditions(lane, snapshot.nowMs)),
    ...snapshot.removed.map((lane) => removedCondition(lane, snapshot.nowMs)),
    ...relayConditions(snapshot),
  ];
}

/** The same conditions, the gravest first. */
export function gravestFirst(conditions: readonly Condition[]): Condition[] {
  return conditions.toSorted((a, b) => RANK[a.severity] - RANK[b.severity]);
}

const RANK: Record<Severity, number> = { critical: 0, warning: 1, info: 2 };

function laneConditions(lane: LaneSnapshot, nowMs: number): Condition[] {
  const rows = [
    disabledCondition(lane, nowMs),
    failingCondition(lane, nowMs),
    breakerCondition(lane, nowMs),
    pausedCondition(lane),
    oldestCondition(lane, nowMs),
    deadCondition(lane, nowMs),
  ];
  return rows.filter((row) => row !== undefined).map((row) => ({ ...row, subject: lane.endpoint }));
}

function disabledCondition(lane: LaneSnapshot, nowMs: number): Condition | undefined {
  const { status, disabledBy, disabledAtMs, firstFailureAtMs } = lane.health;
  if (status !== "disabled") return undefined;
  return {
    type: "endpoint_disabled",
    severity: disabledBy === "relay" ? "critical" : "warning",
    sinceMs: disabledAtMs ?? firstFailureAtMs ?? nowMs,
    count: lane.waiting,
    detail: disabledBy === "relay"
      ? "nothing but failures for too long: deliveries wait until it is enabled"
      : "disabled by an operator: deliveries wait until it is enabled",
  };
}

function failingCondition({ health }: LaneSnapshot, nowMs: number): Condition | undefined {
  if (health.status !== "failing") return undefined;
  return {
    type: "endpoint_failing",
    severity: "warning",
    sinceMs: health.firstFailureAtMs ?? nowMs,
    count: health.streak,
    detail: `${health.streak} attempts in a row failed`,
  };
}

/** Why a breaker is open, in words. */
export const BREAKER_CAUSES = {
  connection: "no connection to the target",
  answer: "the target answers with errors",
  rate_limit: "the target asked to wait",
} as const;

function breakerCondition({ breaker, waiting }: LaneSnapshot, nowMs: number) {
  if (breaker.phase !== "open") return undefined;
  return {
    type: "breaker_open",
    severity: breaker.cause === "rate_limit" ? "info" : "warning",
    sinceMs: breaker.openedAtMs ?? nowMs,
    count: waiting,
    detail: BREAKER_CAUSES[breaker.cause ?? "answer"],
  } satisfies Condition;
}

function pausedCondition({ pausedAtMs, waiting }: LaneSnapshot): Condition | undefined {
  if (pausedAtMs === undefined) return undefined;
  return {
    type: "endpoint_paused",
    severity: "info",
    sinceMs: pausedAtMs,
    count: waiting,
    detail: "paused by an operator: deliveries wait until it is resumed",
  };
}

function oldestCondition(lane: LaneSnapshot, nowMs: number): Condition | undefined {
  const { oldestWaitingAtMs, waiting } = lane;
  if (oldestWaitingAtMs === undefined || nowMs - oldestWaitingAtMs < OLD_MS) return undefined;
  const ageMs = nowMs - oldestWaitingAtMs;
  return {
    type: "oldest_pending_age",
    severity: ageMs < VERY_OLD_MS ? "warning" : "critical",
    sinceMs: oldestWaitingAtMs,
    count: waiting,
    detail: `the oldest delivery has waited for ${inWords(ageMs)}`,
  };
}

/** An age of at least `OLD_MS`, in the unit that a person would use. */
function inWords(ageMs: number): string {
  const minutes = Math.floor(ageMs / MINUTE_MS);
  if (minutes < 120) return `${minutes} minutes`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
}

function deadCondition({ dead, oldestDeadAtMs }: LaneSnapshot, nowMs: number) {
  if (dead === 0) return undefined;
  return {
    type: "dead_letters",
    severity: "warning",
    sinceMs: oldestDeadAtMs ?? nowMs,
    count: dead,
    detail: "deliveries gave up and wait for a replay",
  } satisfies Condition;
}

function removedCondition(lane: RemovedLane, nowMs: number): Condition {
  return {
    type: "endpoint_removed",
    severity: "warning",
    sinceMs: lane.oldestWaitingAtMs ?? nowMs,
    count: lane.waiting,
    subject: lane.endpoint,
    detail: lane.target === undefined
      ? "the endpoint is not configured any more: its deliveries wait for its return"
      : `${lane.target} is none of RELAY_TARGETS any more: its deliveries wait for its return`,
  };
}

function relayConditions(snapshot: Snapshot): Condition[] {
  const { nowMs, queue, storeErrors, sweptAgoMs, pruneBehindSinceMs } = snapshot;
  const found: Condition[] = [];
  if (queue.unavailableSinceMs !== undefined) {
    found.push({
      type: "queue_unavailable",
      severity: queue.asked ? "warning" : "info",
      sinceMs: queue.unavailableSinceMs,
      count: 1,
      detail: "the store brings no queue messages: timers and cron wake the relay",
    });
  }
  if (storeErrors.count > 0) {
    found.push({
      type: "store_errors",
      severity: "critical",
      sinceMs: storeErrors.firstAtMs ?? nowMs,
      count: storeErrors.count,
      detail: "the store failed reads or writes of this process lately",
    });
  }
  if (sweptAgoMs > SWEEP_LATE_MS) {
    found.push({
      type: "sweep_late",
      severity: "critical",
      sinceMs: nowMs - sweptAgoMs,
      count: Math.floor(sweptAgoMs / MINUTE_MS),
      detail: "the scheduler has not looked at the lanes for minutes",
    });
  }
  if (pruneBehindSinceMs !== undefined) {
    found.push({
      type: "prune_behind",
      severity: "warning",
      sinceMs: pruneBehindSinceMs,
      count: 1,
      detail: "old rows are not yet deleted: the last pass failed or left some",
    });
  }
  return found;
}
