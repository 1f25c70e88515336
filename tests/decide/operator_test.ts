import assert from "node:assert/strict";
import { type BreakerState, CLOSED } from "../../lib/decide/breaker.ts";
import { disabled, HEALTHY } from "../../lib/decide/health.ts";
import { freshLane, type LaneRow } from "../../lib/decide/lane.ts";
import { type LaneAction, operated, testedWell } from "../../lib/decide/operator.ts";

const NOW = 5_000;
const FRESH = freshLane("target");
const OPEN: BreakerState = { ...CLOSED, phase: "open", cause: "connection", openUntilMs: 9_000 };

const after = (...actions: LaneAction[]): LaneRow =>
  actions.reduce((row, action) => operated(row, action, NOW), FRESH);

Deno.test("operated() changes nothing when the same is said twice", () => {
  for (const action of ["pause", "disable"] as const) {
    const once = after(action);
    assert.equal(operated(once, action, NOW + 1), once);
  }
  for (const action of ["resume", "enable"] as const) assert.equal(after(action), FRESH);
});

Deno.test("operated() takes back what it did", () => {
  assert.deepEqual(after("pause", "resume"), FRESH);
  assert.deepEqual(after("disable", "enable"), FRESH);
});

Deno.test("operated() makes a relay's disabling the operator's own", () => {
  const row: LaneRow = {
    ...FRESH,
    health: { status: "disabled", streak: 50, disabledBy: "relay", disabledAtMs: 1 },
  };
  const { health } = operated(row, "disable", NOW);
  assert.deepEqual([health.disabledBy, health.disabledAtMs], ["operator", NOW]);
});

Deno.test("operated() leaves pause and health to themselves", () => {
  const both = after("pause", "disable");
  assert.equal(operated(both, "enable", NOW).pausedAtMs, NOW);
  assert.equal(operated(both, "resume", NOW).health.status, "disabled");
});

Deno.test("testedWell() changes nothing in a lane that sends", () => {
  assert.equal(testedWell(FRESH, NOW), FRESH);
  const failing: LaneRow = { ...FRESH, health: { status: "failing", streak: 6 } };
  assert.equal(testedWell(failing, NOW), failing);
});

Deno.test("testedWell() enables a disabled lane", () => {
  assert.deepEqual(testedWell({ ...FRESH, health: disabled(HEALTHY) }, NOW).health, HEALTHY);
});

Deno.test("testedWell() lets an open breaker probe now, and leaves it open", () => {
  const { breaker } = testedWell({ ...FRESH, breaker: OPEN }, NOW);
  assert.deepEqual(breaker, { ...OPEN, openUntilMs: NOW });
});

Deno.test("testedWell() never shortens the wait that a target asked for", () => {
  const row: LaneRow = { ...FRESH, breaker: { ...OPEN, cause: "rate_limit" } };
  assert.equal(testedWell(row, NOW), row);
});

Deno.test("testedWell() does not resume a paused lane", () => {
  const row = operated({ ...FRESH, health: disabled(HEALTHY) }, "pause", 1);
  assert.equal(testedWell(row, NOW).pausedAtMs, 1);
});
