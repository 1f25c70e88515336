import type { FailureCode } from "../model.ts";

/** What one attempt brought: the status of an answer, or why there was none. */
export type AttemptResult = { status: number } | { code: FailureCode };

/** What an attempt means for its delivery, before any schedule is looked at. */
export type Verdict =
  | { outcome: "delivered" }
  | { outcome: "dead"; reason: "redirect" | "rejected" }
  | { outcome: "retry" };

/** Client errors that pass by themselves: RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4. */
const PASSING = new Set([408, 425, 429]);

/**
 * Judges an attempt. Every 2xx is a yes, whatever `retryStatuses` says: what the target
 * took is not sent again. A status outside 200–599 is no refusal, so it is retried.
 */
export function classify(answer: AttemptResult, retryStatuses: readonly number[]): Verdict {
  if ("code" in answer) return { outcome: "retry" };
  const { status } = answer;
  if (status >= 200 && status <= 299) return { outcome: "delivered" };
  if (retryStatuses.includes(status) || PASSING.has(status)) return { outcome: "retry" };
  if (status >= 300 && status <= 399) return { outcome: "dead", reason: "redirect" };
  if (status >= 400 && status <= 499) return { outcome: "dead", reason: "rejected" };
  return { outcome: "retry" };
}
