/** What the core needs from outside. Only `main.ts` and tests hold real ones. */

export interface Clock {
  nowMs(): number;
  /** Runs `fn` once after `delayMs`; the returned function calls it off. */
  after(delayMs: number, fn: () => void): () => void;
}

/** A number in [0, 1). */
export type Random = () => number;

/** Makes the next delivery id: a ULID, monotonic in one process. */
export type NextId = (nowMs: number) => string;

export type LogLevel = "debug" | "info" | "warn" | "error";

/** One wide line an event: `event` names it, fields carry the rest. Never a secret. */
export interface Log {
  (level: LogLevel, event: string, fields?: Record<string, unknown>): void;
}
