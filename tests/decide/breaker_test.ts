import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import {
  breakerAfter,
  type BreakerEvent,
  type BreakerState,
  CLOSED,
  isOutageLike,
  isProbing,
  type LaneResult,
  mayProbe,
} from "../../lib/decide/breaker.ts";
import { gate } from "../../lib/decide/gate.ts";
import { HEALTHY } from "../../lib/decide/health.ts";

const SETTINGS = { failures: 3, openMs: 30_000, capMs: 300_000 };
const REFUSED: LaneResult = { code: "refused" };

const attempt = (
  result: LaneResult,
  atMs = 0,
  deliveryId = "a",
  owner?: string,
): BreakerEvent => ({ type: "attempt", deliveryId, atMs, result, owner });

const probe = (atMs: number, deliveryId = "a", owner = "p1"): BreakerEvent => ({
  type: "probe",
  owner,
  deliveryId,
  atMs,
  leaseMs: 60_000,
});

const run = (events: BreakerEvent[], from: BreakerState = CLOSED) =>
  events.reduce((state, event) => breakerAfter(state, event, SETTINGS), from);

const outage = (result: LaneResult = REFUSED) => run([1, 2, 3].map(() => attempt(result)));

Deno.test("isOutageLike() holds for transport failures, 502, 503 and 504", () => {
  const results: LaneResult[] = [REFUSED, { status: 502 }, { status: 503 }, { status: 504 }];
  assert.ok(results.every(isOutageLike));
});

Deno.test("isOutageLike() fails for other answers and for faults of our own", () => {
  const results: LaneResult[] = [
    ...[200, 404, 429, 500, 501, 600].map((status) => ({ status })),
    { code: "aborted" },
    { code: "payload_missing" },
  ];
  assert.ok(!results.some(isOutageLike));
});

const OPENING: [title: string, events: BreakerEvent[], open: boolean][] = [
  ["two outage-like failures", [attempt(REFUSED), attempt(REFUSED)], false],
  ["three outage-like failures of one delivery", [1, 2, 3].map(() => attempt(REFUSED)), true],
  [
    "outage-like failures of several kinds",
    [REFUSED, { status: 503 }, { code: "timeout" } as const].map((r) => attempt(r)),
    true,
  ],
  ["many 500s of one delivery", Array.from({ length: 9 }, () => attempt({ status: 500 })), false],
  [
    "three 500s of two deliveries",
    ["a", "a", "b"].map((id) => attempt({ status: 500 }, 0, id)),
    true,
  ],
  [
    "failures with an answer between them",
    [attempt(REFUSED), attempt(REFUSED), attempt({ status: 404 }), attempt(REFUSED)],
    false,
  ],
  [
    "failures with a 429 between them",
    [attempt(REFUSED), attempt(REFUSED), attempt({ status: 429 }), attempt(REFUSED)],
    true,
  ],
  ["many 429s without Retry-After", Array(9).fill(attempt({ status: 429 })), false],
  ["one 429 with Retry-After", [attempt({ status: 429, retryAtMs: 5_000 })], true],
  ["one 503 with Retry-After", [attempt({ status: 503, retryAtMs: 5_000 })], false],
  ["faults of our own", Array(9).fill(attempt({ code: "payload_missing" })), false],
];

for (const [title, events, open] of OPENING) {
  Deno.test(`breakerAfter() ${open ? "opens on" : "stays closed on"} ${title}`, () => {
    assert.equal(run(events).phase, open ? "open" : "closed");
  });
}

Deno.test("breakerAfter() never opens where the breaker is turned off", () => {
  let state = CLOSED;
  for (let i = 0; i < 9; i++) state = breakerAfter(state, attempt(REFUSED), false);
  assert.equal(state, CLOSED);
});

Deno.test("breakerAfter() doubles the wait with every failed probe up to the cap", () => {
  let state = outage();
  const waits = [state.openUntilMs];
  for (let i = 0; i < 5; i++) {
    const atMs = state.openUntilMs!;
    state = run([probe(atMs), attempt(REFUSED, atMs, "a", "p1")], state);
    waits.push(state.openUntilMs! - atMs);
  }
  assert.deepEqual(waits, [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]);
});

Deno.test("breakerAfter() waits for the later of its own time and Retry-After", () => {
  const until = (retryAtMs: number) => run([attempt({ status: 429, retryAtMs })]).openUntilMs;
  assert.deepEqual([until(5_000), until(90_000)], [30_000, 90_000]);
});

Deno.test("breakerAfter() starts again from the first wait after it was closed", () => {
  const reopened = run([
    probe(30_000),
    attempt(REFUSED, 30_000, "a", "p1"),
    attempt({ status: 200 }, 40_000),
    ...[1, 2, 3].map(() => attempt(REFUSED, 50_000)),
  ], outage());
  assert.deepEqual([reopened.openUntilMs, reopened.opens], [80_000, 1]);
});

for (const status of [200, 301, 404, 408, 600]) {
  Deno.test(`breakerAfter() closes on a probe answered ${status}`, () => {
    const state = run([probe(30_000), attempt({ status }, 30_100, "a", "p1")], outage());
    assert.deepEqual(state, CLOSED);
  });
}

Deno.test("breakerAfter() closes on a late answer to an attempt begun before it opened", () => {
  assert.deepEqual(run([attempt({ status: 204 }, 5_000, "b")], outage()), CLOSED);
});

Deno.test("breakerAfter() ignores late failures while it is open", () => {
  const open = outage();
  const late = [attempt(REFUSED, 9_000, "b"), attempt({ status: 429, retryAtMs: 99_000 }, 9_000)];
  assert.deepEqual(run(late, open), open);
});

Deno.test("breakerAfter() grants one probe at a time", () => {
  const state = run([probe(30_000, "a", "p1"), probe(30_001, "b", "p2")], outage());
  assert.deepEqual(state.probe, { owner: "p1", deliveryId: "a", untilMs: 90_000 });
});

Deno.test("breakerAfter() grants no probe before the wait is over", () => {
  assert.equal(run([probe(29_999)], outage()).probe, undefined);
});

Deno.test("breakerAfter() lets the prober renew its lease", () => {
  assert.equal(run([probe(30_000), probe(50_000)], outage()).probe?.untilMs, 110_000);
});

Deno.test("breakerAfter() replaces a probe whose lease has lapsed", () => {
  const state = run([probe(30_000, "a", "p1"), probe(90_000, "b", "p2")], outage());
  assert.deepEqual([state.probe?.owner, state.lastProbedId], ["p2", "b"]);
});

Deno.test("breakerAfter() ignores the failure of a probe that was replaced", () => {
  const state = run([probe(30_000, "a", "p1"), probe(90_000, "b", "p2")], outage());
  assert.deepEqual(run([attempt(REFUSED, 91_000, "a", "p1")], state), state);
});

Deno.test("breakerAfter() frees the probe when our own fault ended it", () => {
  const state = run(
    [probe(30_000), attempt({ code: "aborted" }, 31_000, "a", "p1")],
    outage(),
  );
  assert.deepEqual([mayProbe(state, 31_000), state.opens], [true, 1]);
});

Deno.test("breakerAfter() brings the probe forward once the target listens", () => {
  const state = run([{ type: "listening", atMs: 5_000 }], outage());
  assert.equal(mayProbe(state, 5_000), true);
});

for (const result of [{ status: 503 }, { code: "timeout" }, { code: "reset" }] as const) {
  const name = "code" in result ? result.code : result.status;
  Deno.test(`breakerAfter() learns nothing from a connect after ${name}`, () => {
    const open = outage(result);
    assert.deepEqual(run([{ type: "listening", atMs: 5_000 }], open), open);
  });
}

Deno.test("breakerAfter() forgets everything on a reset", () => {
  assert.equal(run([{ type: "reset" }], outage()), CLOSED);
});

Deno.test("breakerAfter() keeps its state plain JSON", () => {
  const state = run([probe(30_000)], outage());
  assert.deepEqual(JSON.parse(JSON.stringify(state)), state);
});

/** What may happen next in a lane: time passes, then one of these. */
const arbitraryResult: fc.Arbitrary<LaneResult> = fc.oneof(
  fc.record({ status: fc.constantFrom(200, 404, 500, 502, 503, 504, 429) }),
  fc.record({ status: fc.constant(429), retryAtMs: fc.nat(900_000) }),
  fc.record({ code: fc.constantFrom("refused", "timeout", "reset", "aborted" as const) }),
);
const arbitraryStep = fc.record({
  afterMs: fc.nat(100_000),
  owner: fc.constantFrom("p1", "p2", "p3"),
  deliveryId: fc.constantFrom("a", "b", "c"),
  result: arbitraryResult,
  what: fc.constantFrom("attempt", "probe", "listening"),
});
type Step = typeof arbitraryStep extends fc.Arbitrary<infer S> ? S : never;

/** Drives a lane as a process does: the gate is asked, late results come at any time. */
function drive(steps: Step[], look: (before: BreakerState, nowMs: number, step: Step) => void) {
  let state = CLOSED;
  let nowMs = 0;
  for (const step of steps) {
    nowMs += step.afterMs;
    look(state, nowMs, step);
    state = breakerAfter(state, eventOf(step, nowMs, state), SETTINGS);
  }
  return { state, nowMs };
}

function eventOf(step: Step, nowMs: number, state: BreakerState): BreakerEvent {
  const { owner, deliveryId, result } = step;
  if (step.what === "probe") return probe(nowMs, deliveryId, owner);
  if (step.what === "listening") return { type: "listening", atMs: nowMs };
  const asked = "status" in result && result.retryAtMs !== undefined
    ? { ...result, retryAtMs: nowMs + result.retryAtMs }
    : result;
  const isProbe = state.probe?.owner === owner;
  return attempt(asked, nowMs, isProbe ? state.probe!.deliveryId : deliveryId, owner);
}

const GO = (breaker: BreakerState, nowMs: number) =>
  gate({ paused: false, health: HEALTHY, breaker }, nowMs).go;

Deno.test("breakerAfter() never has two live probes", () => {
  fc.assert(fc.property(fc.array(arbitraryStep, { maxLength: 60 }), (steps) => {
    drive(steps, (state, nowMs, step) => {
      if (!isProbing(state, nowMs)) return;
      const rival = breakerAfter(state, probe(nowMs, step.deliveryId, "rival"), SETTINGS);
      assert.deepEqual(rival.probe, state.probe);
    });
  }));
});

Deno.test("gate() lets nothing but a probe through while the breaker is open", () => {
  fc.assert(fc.property(fc.array(arbitraryStep, { maxLength: 60 }), (steps) => {
    drive(steps, (state, nowMs) => {
      const expected = state.phase === "closed" ? "all" : mayProbe(state, nowMs) ? "probe" : "none";
      assert.equal(GO(state, nowMs), expected);
    });
  }));
});

Deno.test("gate() lets nothing through before a Retry-After that opened the breaker", () => {
  fc.assert(
    fc.property(fc.nat(900_000), fc.array(arbitraryStep, { maxLength: 20 }), (waitMs, steps) => {
      const open = run([attempt({ status: 429, retryAtMs: waitMs })]);
      let [state, nowMs] = [open, 0];
      for (const step of steps) {
        nowMs += step.afterMs;
        if (nowMs >= waitMs) return;
        assert.equal(GO(state, nowMs), "none");
        if (step.what !== "attempt") {
          state = breakerAfter(state, eventOf(step, nowMs, state), SETTINGS);
        }
      }
    }),
  );
});

Deno.test("breakerAfter() can always close again: wait, probe, answer", () => {
  fc.assert(fc.property(fc.array(arbitraryStep, { maxLength: 60 }), (steps) => {
    const { state, nowMs } = drive(steps, () => {});
    const laterMs = Math.max(nowMs, state.openUntilMs ?? 0, state.probe?.untilMs ?? 0);
    if (state.phase === "open") assert.ok(mayProbe(state, laterMs));
    const end = run([
      probe(laterMs, "z", "p9"),
      attempt({ status: 200 }, laterMs, "z", "p9"),
    ], state);
    assert.deepEqual(end, CLOSED);
  }));
});

Deno.test("breakerAfter() waits at most the cap or the Retry-After that was asked for", () => {
  fc.assert(fc.property(fc.array(arbitraryStep, { maxLength: 60 }), (steps) => {
    const { state, nowMs } = drive(steps, () => {});
    if (state.phase === "open") assert.ok(state.openUntilMs! - nowMs <= 900_000);
  }));
});
