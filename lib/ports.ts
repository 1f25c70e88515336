import type { ProblemCode } from "./errors.ts";
import type { Attempt, DeadReason } from "./model.ts";

/** What the core needs from outside. Only `main.ts` and tests hold real ones. */

export interface Clock {
  /** Wall-clock time. It may step; never subtract two of them to measure. */
  nowMs(): number;
  /** A time that only grows, for durations. */
  monotonicMs(): number;
  /** Runs `fn` once after `delayMs`; the returned function calls it off. */
  after(delayMs: number, fn: () => void): () => void;
}

/** Runs `fn` soon, but after what is ready for a socket has been handed to it. */
export type AfterWrites = (fn: () => void) => void;

/** A number in [0, 1). */
export type Random = () => number;

/** Makes the next delivery id: a ULID, monotonic in one process. */
export type NextId = (nowMs: number) => string;

export type LogLevel = "debug" | "info" | "warn" | "error";

/** One wide line an event: `event` names it, fields carry the rest. Never a secret. */
export interface Log {
  (level: LogLevel, event: string, fields?: Record<string, unknown>): void;
}

/** What happened, told once where it happened; logs, counters and live views listen. */
export type RelayEvent =
  | {
    type: "accepted";
    atMs: number;
    endpoint: string;
    deliveryId: string;
    eventId: string;
    status: "accepted" | "duplicate" | "revived";
    ms: number;
  }
  | { type: "refused"; atMs: number; endpoint?: string; code: ProblemCode; ms: number }
  | ({ type: "attempt"; endpoint: string; deliveryId: string; eventId: string } & Attempt)
  | {
    type: "settled";
    atMs: number;
    endpoint: string;
    deliveryId: string;
    state: "delivered" | "dead";
    reason?: DeadReason;
  }
  /** An outage of the store, or a fault of ours; `doing` says what could not be done. */
  | { type: "store_error"; atMs: number; doing: string; message: string }
  | { type: "lane"; atMs: number; endpoint: string; change: LaneChange };

export type LaneChange =
  | "opened"
  | "closed"
  | "failing"
  | "recovered"
  | "disabled"
  | "enabled"
  | "paused"
  | "resumed";

export type Observe = (event: RelayEvent) => void;
