import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import { retryAt, type RetryDecision } from "../../lib/decide/retry.ts";
import { RETRY_POLICIES, type RetryPolicy } from "../../lib/retry_policy.ts";

const still = () => 0;
const policyOf = (delaysMs: number[], maxAgeMs?: number): RetryPolicy => ({
  delaysMs,
  maxAgeMs,
  jitter: 0,
});

const decide = (
  policy: RetryPolicy,
  failures: number,
  nowMs = 0,
  more: { random?: () => number; notBeforeMs?: number } = {},
): RetryDecision => retryAt({ policy, failures, startedAtMs: 0, nowMs, random: still, ...more });

const arbitraryPolicy: fc.Arbitrary<RetryPolicy> = fc.record({
  delaysMs: fc.array(fc.nat(6 * 3_600_000), { maxLength: 25 }),
  maxAgeMs: fc.option(fc.nat(3 * 86_400_000), { nil: undefined }),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
});

const arbitraryRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  .map((value) => () => value);

/** Runs a round in which every attempt fails at once; returns the waits and the end. */
function round(policy: RetryPolicy, random: () => number) {
  const waits: number[] = [];
  for (let nowMs = 0, failures = 1;; failures++) {
    const decision = decide(policy, failures, nowMs, { random });
    if ("dead" in decision) return { waits, dead: decision.dead };
    waits.push(decision.retryAtMs - nowMs);
    nowMs = decision.retryAtMs;
  }
}

function clock(ms: number): string {
  const [h, m, s] = [ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60].map(Math.floor);
  return [h > 0 && `${h}h`, m > 0 && `${m}m`, s > 0 && `${s}s`].filter(Boolean).join(" ");
}

Deno.test("retryAt() climbs the standard ladder", () => {
  const { waits, dead } = round(RETRY_POLICIES.standard, still);
  const lines = waits.map((ms, i) => `${i + 1} ${clock(ms)}`);
  console.log(lines.join("\n"));
  assert.deepEqual(lines, [
    "1 5s",
    "2 10s",
    "3 20s",
    "4 40s",
    "5 1m 20s",
    "6 2m 40s",
    "7 5m 20s",
    "8 10m 40s",
    "9 21m 20s",
    "10 42m 40s",
    "11 1h 25m 20s",
    "12 2h 50m 40s",
    "13 5h 41m 20s",
    "14 6h",
    "15 6h",
    "16 6h",
    "17 6h",
    "18 6h",
    "19 6h",
  ]);
  assert.equal(dead, "exhausted");
});

Deno.test("retryAt() exhausts an empty schedule with the first failure", () => {
  assert.deepEqual(decide(policyOf([]), 1), { dead: "exhausted" });
});

Deno.test("retryAt() takes a zero wait as a wait of zero", () => {
  assert.deepEqual(decide(policyOf([0, 1_000]), 1, 50), { retryAtMs: 50 });
});

Deno.test("retryAt() allows the schedule's length of retries and no more", () => {
  const outcomes = [1, 2, 3].map((failures) => decide(policyOf([200, 200]), failures));
  assert.deepEqual(outcomes, [{ retryAtMs: 200 }, { retryAtMs: 200 }, { dead: "exhausted" }]);
});

Deno.test("retryAt() expires a round that is older than the longest age", () => {
  const policy = policyOf([1_000, 1_000], 60_000);
  assert.deepEqual(decide(policy, 1, 60_000), { retryAtMs: 61_000 });
  assert.deepEqual(decide(policy, 1, 60_001), { dead: "expired" });
});

Deno.test("retryAt() waits at least Retry-After", () => {
  fc.assert(
    fc.property(
      arbitraryPolicy,
      fc.integer({ min: 1, max: 30 }),
      arbitraryRandom,
      fc.nat(1e9),
      (policy, failures, random, notBeforeMs) => {
        const decision = decide(policy, failures, 0, { random, notBeforeMs });
        assert.ok("dead" in decision || decision.retryAtMs >= notBeforeMs);
      },
    ),
  );
});

Deno.test("retryAt() ends every round after the schedule's length of retries at most", () => {
  fc.assert(
    fc.property(arbitraryPolicy, arbitraryRandom, (policy, random) => {
      assert.ok(round(policy, random).waits.length <= policy.delaysMs.length);
    }),
  );
});

Deno.test("retryAt() only adds jitter, and never more than its share", () => {
  fc.assert(
    fc.property(arbitraryPolicy, arbitraryRandom, (policy, random) => {
      round(policy, random).waits.forEach((wait, i) => {
        const delayMs = policy.delaysMs[i];
        assert.ok(wait >= delayMs && wait <= delayMs * (1 + policy.jitter));
      });
    }),
  );
});
