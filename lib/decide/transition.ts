import { LIMITS } from "../limits.ts";
import type { Attempt, DeadReason, Delivery } from "../model.ts";

/**
 * The changes a delivery can undergo, as pure functions from one record to the next.
 * The store's write door applies them; nothing else makes a new record.
 */

/**
 * A free or lapsed delivery becomes this process's until `leaseEndMs`. The attempt of a
 * lapsed lease may have reached the target, or never have begun: it is kept as `lost`. The
 * first one costs nothing; a delivery that ends its process time and again uses itself up.
 */
export function claimed(
  delivery: Delivery,
  owner: string,
  nowMs: number,
  leaseEndMs: number,
): Delivery {
  const known = delivery.state === "in_flight" ? withLost(delivery, nowMs) : delivery;
  return { ...known, state: "in_flight", lease: { owner, atMs: nowMs }, dueAtMs: leaseEndMs };
}

function withLost(delivery: Delivery, nowMs: number): Delivery {
  const atMs = delivery.lease?.atMs ?? nowMs;
  const measured = { atMs, ms: Math.max(0, nowMs - atMs), code: "lost" } as const;
  const again = delivery.attempts.at(-1)?.code === "lost";
  const outcome: Outcome = again
    ? { to: "retry", retryAtMs: nowMs }
    : { to: "refunded", dueAtMs: nowMs };
  return attempted(delivery, measured, outcome, nowMs);
}

/** The owner keeps its lease until a later time. */
export function renewed(delivery: Delivery, leaseEndMs: number): Delivery {
  return { ...delivery, dueAtMs: leaseEndMs };
}

/** The owner gives the delivery back unattempted. */
export function released(delivery: Delivery, dueAtMs: number): Delivery {
  return { ...without(delivery, "lease"), state: "pending", dueAtMs };
}

/** Where a delivery goes after one attempt. */
export type Outcome =
  | { to: "delivered" }
  | { to: "dead"; reason: DeadReason }
  | { to: "retry"; retryAtMs: number; notBeforeMs?: number }
  /** The attempt does not count: it met a rate limit, or it was a probe into an outage. */
  | { to: "refunded"; dueAtMs: number; notBeforeMs?: number };

type Measured = Pick<Attempt, "atMs" | "ms" | "status" | "code" | "location">;

/** Records an attempt and moves the delivery on. */
export function attempted(
  delivery: Delivery,
  measured: Measured,
  outcome: Outcome,
  nowMs: number,
): Delivery {
  const n = delivery.attemptCount + 1;
  const attempt: Attempt = {
    n,
    ...measured,
    outcome: outcome.to,
    ...(outcome.to === "retry" ? { retryAtMs: outcome.retryAtMs } : {}),
  };
  const next: Delivery = {
    ...without(delivery, "lease", "dueAtMs", "notBeforeMs", "reason"),
    attemptCount: n,
    attempts: [...delivery.attempts, attempt].slice(-LIMITS.attemptsKept),
    round: roundAfter(delivery, measured.atMs, outcome),
  };
  switch (outcome.to) {
    case "delivered":
      return { ...next, state: "delivered", settledAtMs: nowMs };
    case "dead":
      return { ...next, state: "dead", reason: outcome.reason, settledAtMs: nowMs };
    case "retry":
      return waiting(next, outcome.retryAtMs, outcome.notBeforeMs);
    case "refunded":
      return waiting(next, outcome.dueAtMs, outcome.notBeforeMs);
  }
}

function roundAfter(delivery: Delivery, atMs: number, outcome: Outcome): Delivery["round"] {
  const { round } = delivery;
  if (outcome.to === "refunded") return { ...round, refunds: round.refunds + 1 };
  return { ...round, startedAtMs: round.startedAtMs ?? atMs };
}

function waiting(delivery: Delivery, dueAtMs: number, notBeforeMs?: number): Delivery {
  return {
    ...delivery,
    state: "pending",
    dueAtMs,
    ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
  };
}

/** Attempts of the present round that count against its budget. */
export function countedAttempts(delivery: Delivery): number {
  return delivery.attemptCount - delivery.round.attemptsBefore - delivery.round.refunds;
}

/** A fresh budget, by the sender's own repeat of a dead delivery. */
export function revived(delivery: Delivery, nowMs: number): Delivery {
  return {
    ...without(delivery, "reason", "settledAtMs", "notBeforeMs"),
    state: "pending",
    dueAtMs: nowMs,
    round: { attemptsBefore: delivery.attemptCount, refunds: 0 },
  };
}

/** A fresh budget, by an operator; the replay's number goes out as a header. */
export function replayed(delivery: Delivery, nowMs: number): Delivery {
  return { ...revived(delivery, nowMs), replays: delivery.replays + 1 };
}

/** An operator gives up on a waiting delivery. */
export function cancelled(delivery: Delivery, nowMs: number): Delivery {
  return {
    ...without(delivery, "dueAtMs", "notBeforeMs"),
    state: "dead",
    reason: "cancelled",
    settledAtMs: nowMs,
  };
}

function without<K extends keyof Delivery>(
  delivery: Delivery,
  ...fields: K[]
): Omit<Delivery, K> & Partial<Delivery> {
  const copy = { ...delivery };
  for (const field of fields) delete copy[field];
  return copy;
}
