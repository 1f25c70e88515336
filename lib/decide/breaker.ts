import type { BreakerSettings } from "../endpoint.ts";
import { LIMITS } from "../limits.ts";
import type { FailureCode } from "../model.ts";

/** Why a lane stands still: nobody listens, bad answers, or the target asked for a pause. */
export type BreakerCause = "connection" | "answer" | "rate_limit";

/**
 * The breaker of one lane, persisted as plain JSON and changed only by `breakerAfter()`.
 * Open and free to probe are one phase: time alone makes the difference.
 */
export interface BreakerState {
  phase: "closed" | "open";
  /** Outage-like results in a row. */
  outages: number;
  /** 5xx or outage-like results in a row. */
  failures: number;
  /** Distinct deliveries of that row; two are enough to know, so no more are kept. */
  failedIds: string[];
  /** Times opened since it was last closed; each doubles the wait. */
  opens: number;
  /** Present while open: no probe before this time. */
  openUntilMs?: number;
  /** How long that was from its opening. */
  waitMs?: number;
  cause?: BreakerCause;
  /** The one probe under way. Leased, never owned: past `untilMs` another may start. */
  probe?: { owner: string; deliveryId: string; untilMs: number };
  /** The delivery probed last, so that the next probe takes another one. */
  lastProbedId?: string;
  /** When this outage began; stays over re-openings. */
  openedAtMs?: number;
}

/** What came of an attempt, with the time its `Retry-After` asks to wait for. */
export type LaneResult = { status: number; retryAtMs?: number } | { code: FailureCode };

export type BreakerEvent =
  /** `owner` is set where the attempt was the probe of that process. */
  | { type: "attempt"; deliveryId: string; atMs: number; result: LaneResult; owner?: string }
  /** A process takes the probe, or renews the lease of the one it has. */
  | { type: "probe"; owner: string; deliveryId: string; atMs: number; leaseMs: number }
  /** A bare connect succeeded. */
  | { type: "listening"; atMs: number }
  /** The clock was set back to `atMs`: no wait is longer than it was, no lease than `leaseMs`. */
  | { type: "set_back"; atMs: number; leaseMs: number }
  | { type: "reset" };

type AttemptEvent = Extract<BreakerEvent, { type: "attempt" }>;
type ProbeEvent = Extract<BreakerEvent, { type: "probe" }>;
type SetBackEvent = Extract<BreakerEvent, { type: "set_back" }>;
type ActiveSettings = Exclude<BreakerSettings, false>;

export const CLOSED: BreakerState = Object.freeze({
  phase: "closed",
  outages: 0,
  failures: 0,
  failedIds: [],
  opens: 0,
});

/** Failures of ours; they say nothing about the target. */
const OWN_CODES: ReadonlySet<FailureCode> = new Set(["aborted", "payload_missing", "lost"]);

/** Failures that end once somebody listens; after any other a connect proves nothing. */
const CONNECTION_CODES: ReadonlySet<FailureCode> = new Set(["refused", "unreachable", "dns"]);

const OUTAGE_STATUSES = new Set([502, 503, 504]);

/** Whether a result looks like an outage: any transport failure, 502, 503 or 504. */
export function isOutageLike(result: LaneResult): boolean {
  return "code" in result ? !OWN_CODES.has(result.code) : OUTAGE_STATUSES.has(result.status);
}

const isFailure = (result: LaneResult) =>
  isOutageLike(result) || ("status" in result && result.status >= 500 && result.status <= 599);

const isRateLimit = (result: LaneResult) => "status" in result && result.status === 429;

/**
 * The breaker's next state. It opens on `settings.failures` outage-like results in a row,
 * on as many failures in a row of at least two deliveries, or on one 429 with
 * `Retry-After`; waits double from `openMs` to `capMs`. Any answer but 5xx and 429 closes
 * it, a late one too. While open only the probe's failure counts.
 */
export function breakerAfter(
  state: BreakerState,
  event: BreakerEvent,
  settings: BreakerSettings,
): BreakerState {
  if (settings === false || event.type === "reset") return CLOSED;
  if (event.type === "probe") return probed(state, event);
  if (event.type === "listening") return listened(state, event.atMs);
  if (event.type === "set_back") return setBack(state, event, settings);
  const { result } = event;
  if ("status" in result && !isFailure(result) && !isRateLimit(result)) return CLOSED;
  return state.phase === "open"
    ? failedWhileOpen(state, event, settings)
    : failedWhileClosed(state, event, settings);
}

/** Whether a probe may start: open, the wait is over, and no live probe is under way. */
export function mayProbe(state: BreakerState, nowMs: number): boolean {
  return state.phase === "open" && nowMs >= (state.openUntilMs ?? 0) && !isProbing(state, nowMs);
}

/** Whether some process holds a live probe. */
export function isProbing(state: BreakerState, nowMs: number): boolean {
  return state.probe !== undefined && nowMs < state.probe.untilMs;
}

function probed(state: BreakerState, event: ProbeEvent): BreakerState {
  const { owner, deliveryId, atMs, leaseMs } = event;
  if (!isProbeOf(state, owner, deliveryId) && !mayProbe(state, atMs)) return state;
  const probe = { owner, deliveryId, untilMs: atMs + leaseMs };
  return { ...state, probe, lastProbedId: deliveryId };
}

const isProbeOf = (state: BreakerState, owner: string | undefined, deliveryId: string) =>
  state.probe !== undefined && state.probe.owner === owner && state.probe.deliveryId === deliveryId;

function listened(state: BreakerState, atMs: number): BreakerState {
  if (state.phase !== "open" || state.cause !== "connection") return state;
  return { ...state, openUntilMs: Math.min(state.openUntilMs ?? atMs, atMs) };
}

function setBack(
  state: BreakerState,
  { atMs, leaseMs }: SetBackEvent,
  { capMs }: ActiveSettings,
): BreakerState {
  const { probe, openUntilMs = 0, waitMs = capMs } = state;
  const isAhead = (byMs: number) => byMs > atMs + LIMITS.clockErrorMs;
  const waiting = isAhead(openUntilMs - waitMs) ? { ...state, openUntilMs: atMs + waitMs } : state;
  if (probe === undefined || !isAhead(probe.untilMs - leaseMs)) return waiting;
  return { ...waiting, probe: { ...probe, untilMs: atMs + leaseMs } };
}

function failedWhileOpen(
  state: BreakerState,
  event: AttemptEvent,
  settings: ActiveSettings,
): BreakerState {
  if (!isProbeOf(state, event.owner, event.deliveryId)) return state;
  const { probe: _, ...freed } = state;
  const counts = isFailure(event.result) || isRateLimit(event.result);
  return counts ? opened(freed, event, settings) : freed;
}

function failedWhileClosed(
  state: BreakerState,
  event: AttemptEvent,
  settings: ActiveSettings,
): BreakerState {
  const { result, deliveryId } = event;
  if (isRateLimit(result)) {
    return askedToWait(result) === undefined ? state : opened(state, event, settings);
  }
  if (!isFailure(result)) return state;
  const next = {
    ...state,
    outages: isOutageLike(result) ? state.outages + 1 : 0,
    failures: state.failures + 1,
    failedIds: [...new Set([...state.failedIds, deliveryId])].slice(0, 2),
  };
  const opens = next.outages >= settings.failures ||
    (next.failures >= settings.failures && next.failedIds.length >= 2);
  return opens ? opened(next, event, settings) : next;
}

function opened(state: BreakerState, event: AttemptEvent, settings: ActiveSettings): BreakerState {
  const { atMs, result } = event;
  const waitMs = Math.min(settings.capMs, settings.openMs * 2 ** state.opens);
  const askedMs = isRateLimit(result) ? askedToWait(result) ?? atMs : atMs;
  const openUntilMs = Math.max(atMs + waitMs, askedMs);
  return {
    ...state,
    phase: "open",
    opens: state.opens + 1,
    openUntilMs,
    waitMs: openUntilMs - atMs,
    cause: causeOf(result),
    openedAtMs: state.openedAtMs ?? atMs,
  };
}

const askedToWait = (result: LaneResult) => "status" in result ? result.retryAtMs : undefined;

function causeOf(result: LaneResult): BreakerCause {
  if (isRateLimit(result)) return "rate_limit";
  return "code" in result && CONNECTION_CODES.has(result.code) ? "connection" : "answer";
}
