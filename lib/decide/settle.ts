import type { Delivery } from "../model.ts";
import type { Random } from "../ports.ts";
import type { RetryPolicy } from "../retry_policy.ts";
import { isOutageLike } from "./breaker.ts";
import { type AttemptResult, classify } from "./classify.ts";
import { retryAt } from "./retry.ts";
import { countedAttempts, type Outcome } from "./transition.ts";

export interface SettleQuestion {
  delivery: Delivery;
  result: AttemptResult;
  /** What the answer's Retry-After came to, in epoch milliseconds. */
  retryAfterMs?: number;
  retryStatuses: readonly number[];
  policy: RetryPolicy;
  /** Whether the lane has a breaker: without one, every attempt counts. */
  breaker: boolean;
  /** When the delivery was due before it was claimed. */
  previousDueAtMs: number;
  /** The attempt was an open breaker's probe. */
  probe: boolean;
  atMs: number;
  nowMs: number;
  random: Random;
}

/** Says where a delivery goes after one attempt. */
export function settle(question: SettleQuestion): Outcome {
  const { delivery, result, retryStatuses, policy, atMs, nowMs, random } = question;
  const verdict = classify(result, retryStatuses);
  if (verdict.outcome === "delivered") return { to: "delivered" };
  if (verdict.outcome === "dead") return { to: "dead", reason: verdict.reason };
  const notBeforeMs = question.retryAfterMs;
  if (isRefunded(question)) {
    return {
      to: "refunded",
      dueAtMs: Math.max(question.previousDueAtMs, notBeforeMs ?? 0),
      notBeforeMs,
    };
  }
  const decision = retryAt({
    policy,
    failures: countedAttempts(delivery) + 1,
    startedAtMs: delivery.round.startedAtMs ?? atMs,
    nowMs,
    random,
    notBeforeMs,
  });
  return "dead" in decision
    ? { to: "dead", reason: decision.dead }
    : { to: "retry", retryAtMs: decision.retryAtMs, notBeforeMs };
}

/**
 * An attempt costs nothing where the lane, not the delivery, was told to wait, and where
 * it only probed an outage: a probe counts if its delivery was due by its own schedule
 * and the target was there to refuse it.
 */
function isRefunded(
  { result, retryAfterMs, breaker, previousDueAtMs, probe, atMs }: SettleQuestion,
): boolean {
  if (!breaker) return false;
  if ("status" in result && result.status === 429 && retryAfterMs !== undefined) return true;
  return probe && (isOutageLike(result) || previousDueAtMs > atMs);
}
