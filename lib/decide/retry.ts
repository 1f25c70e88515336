import type { Random } from "../ports.ts";
import type { RetryPolicy } from "../retry_policy.ts";

export interface RetryQuestion {
  policy: RetryPolicy;
  /** Counted failed attempts of this round, the present one included; refunds are not. */
  failures: number;
  /** Time of the round's first attempt. */
  startedAtMs: number;
  nowMs: number;
  random: Random;
  /** The target itself asked for nothing earlier. */
  notBeforeMs?: number;
}

export type RetryDecision = { retryAtMs: number } | { dead: "exhausted" | "expired" };

/**
 * Says when a failed delivery is tried again, in epoch milliseconds, or that it is not:
 * `exhausted` once the ladder is used up, `expired` once the round is older than the
 * policy's `maxAgeMs`. Jitter only adds; `notBeforeMs` is a lower bound.
 */
export function retryAt(question: RetryQuestion): RetryDecision {
  const { policy, failures, startedAtMs, nowMs, random, notBeforeMs = 0 } = question;
  if (failures > policy.delaysMs.length) return { dead: "exhausted" };
  if (policy.maxAgeMs !== undefined && nowMs - startedAtMs > policy.maxAgeMs) {
    return { dead: "expired" };
  }
  const delayMs = policy.delaysMs[failures - 1];
  const jitterMs = Math.floor(delayMs * policy.jitter * random());
  return { retryAtMs: Math.max(nowMs + delayMs + jitterMs, notBeforeMs) };
}
