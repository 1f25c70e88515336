import type { Plan } from "../plan.ts";
import { longest } from "../settings.ts";
import { LONGEST_RETRY_AFTER_MS } from "../targets.ts";

/** For the attempts themselves, and for what the store takes. */
const WORK_MS = 5_000;

/**
 * How long everything may take to be settled once all faults have stopped, in milliseconds:
 * the last attempt into the fault ends, and then its delivery or its breaker waits for the
 * last time; or the lease of a process that is gone runs out. A rate takes its time, too.
 */
export function recoveryBoundMs({ leaseMs, actions }: Plan): number {
  const timeoutMs = longest(({ timeoutMs }) => timeoutMs);
  const waitMs = Math.max(
    longest(({ breaker }) => breaker === false ? 0 : breaker.capMs),
    longest(({ retry }) => Math.max(...retry.delaysMs)),
    LONGEST_RETRY_AFTER_MS,
  );
  // A probe's lease outlives its attempt.
  const heldMs = Math.max(leaseMs, timeoutMs + 1_000);
  const rateMs = longest(({ id, rateLimit }) => {
    const posts = actions.filter((one) => one.do === "post" && one.endpoint === id).length;
    return rateLimit === undefined ? 0 : posts * 1_000 / rateLimit;
  });
  return Math.max(timeoutMs + waitMs, heldMs) + rateMs + WORK_MS;
}
