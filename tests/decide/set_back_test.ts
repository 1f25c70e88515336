import assert from "node:assert/strict";
import { type BreakerState, CLOSED } from "../../lib/decide/breaker.ts";
import { freshLane, type LaneRow } from "../../lib/decide/lane.ts";
import { rowSetBack, waitingAnew } from "../../lib/decide/set_back.ts";
import type { Attempt, Delivery } from "../../lib/model.ts";

const NOW = 1_000_000_000;
const HOUR = 3_600_000;
const LEASE = 60_000;
const BREAKER = { failures: 3, openMs: 30_000, capMs: 300_000 };

function attempt(n: number, atMs: number, result: Partial<Attempt>): Attempt {
  return { n, atMs, ms: 100, status: 500, outcome: "retry", ...result };
}

function waiting(dueAtMs: number, more: Partial<Delivery> = {}): Delivery {
  return {
    id: "01",
    endpoint: "demo",
    eventId: "event",
    state: "pending",
    method: "POST",
    path: "",
    query: "",
    bytes: 2,
    chunks: 1,
    sha256: "",
    acceptedAtMs: dueAtMs,
    dueAtMs,
    attemptCount: more.attempts?.length ?? 0,
    attempts: [],
    replays: 0,
    round: { attemptsBefore: 0, refunds: 0 },
    ...more,
  };
}

const failedAhead = attempt(1, NOW + HOUR, { retryAtMs: NOW + HOUR + 5_100 });
const askedAhead = attempt(1, NOW + HOUR, { status: 429, outcome: "refunded" });
const failedBefore = attempt(1, NOW - HOUR, { retryAtMs: NOW + 2 * HOUR });
const probedAhead = attempt(2, NOW + HOUR, { outcome: "refunded" });

/** By what a delivery waits for: when it is due after the step, `undefined` as before. */
const WAITS: [what: string, delivery: Delivery, dueAtMs: number | undefined][] = [
  [
    "a retry's wait begins anew",
    waiting(NOW + HOUR + 5_100, { attempts: [failedAhead] }),
    NOW + 5_000,
  ],
  [
    "a pause that the target asked for begins anew",
    waiting(NOW + HOUR + 9_100, { attempts: [askedAhead], notBeforeMs: NOW + HOUR + 9_100 }),
    NOW + 9_000,
  ],
  ["what waits for its turn only is due at once", waiting(NOW + HOUR), NOW - 120_000],
  [
    "a wait that began before the present time is left alone",
    waiting(NOW + 2 * HOUR, { attempts: [failedBefore] }),
    undefined,
  ],
  [
    "so it is after a probe that cost nothing",
    waiting(NOW + 2 * HOUR, { attempts: [failedBefore, probedAhead] }),
    undefined,
  ],
  ["what differs as clocks do is left alone", waiting(NOW + 900), undefined],
  ["a lease is its owner's", waiting(NOW + HOUR, { state: "in_flight" }), undefined],
];

for (const [what, delivery, dueAtMs] of WAITS) {
  Deno.test(`after a clock was set back ${what}`, () => {
    assert.equal(waitingAnew(delivery, NOW)?.dueAtMs, dueAtMs);
  });
}

Deno.test("after a clock was set back a pause is no lower bound of before", () => {
  const asked = NOW + HOUR + 9_100;
  const delivery = waiting(asked, { attempts: [askedAhead], notBeforeMs: asked });
  assert.equal(waitingAnew(delivery, NOW)?.notBeforeMs, NOW + 9_000);
});

function rowWith(breaker: Partial<BreakerState>, more: Partial<LaneRow> = {}): LaneRow {
  return { ...freshLane("target"), breaker: { ...CLOSED, ...breaker }, ...more };
}

Deno.test("after a clock was set back a breaker waits for as long as it was opened for", () => {
  const open = rowWith({ phase: "open", openUntilMs: NOW + HOUR + 10_000, waitMs: 30_000 });
  assert.equal(rowSetBack(open, NOW, LEASE, BREAKER).breaker.openUntilMs, NOW + 30_000);
});

Deno.test("after a clock was set back an earlier release's breaker waits for its cap", () => {
  const open = rowWith({ phase: "open", openUntilMs: NOW + HOUR });
  assert.equal(rowSetBack(open, NOW, LEASE, BREAKER).breaker.openUntilMs, NOW + 300_000);
});

Deno.test("after a clock was set back no part of a lane is leased for longer than a lease", () => {
  const lease = { owner: "other", untilMs: NOW + HOUR };
  const probe = { ...lease, deliveryId: "01" };
  const row = rowWith({ phase: "open", probe }, { lease, knocker: lease });
  const after = rowSetBack(row, NOW, LEASE, BREAKER);
  const ends = [after.lease, after.knocker, after.breaker.probe].map((one) => one?.untilMs);
  assert.deepEqual(ends, Array(3).fill(NOW + LEASE));
});

Deno.test("a lane whose times are right stays the same row", () => {
  const lease = { owner: "other", untilMs: NOW + LEASE };
  const row = rowWith({ phase: "open", openUntilMs: NOW + 9, waitMs: 30_000 }, { lease });
  assert.equal(rowSetBack(row, NOW, LEASE, BREAKER), row);
});

Deno.test("times that are ahead as clocks differ stay as they are", () => {
  const lease = { owner: "other", untilMs: NOW + LEASE + 900 };
  const breaker = {
    openUntilMs: NOW + 30_900,
    waitMs: 30_000,
    probe: { ...lease, deliveryId: "01" },
  };
  const row = rowWith({ phase: "open", ...breaker }, { lease, knocker: lease });
  assert.equal(rowSetBack(row, NOW, LEASE, BREAKER), row);
});
