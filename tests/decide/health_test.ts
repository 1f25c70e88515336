import assert from "node:assert/strict";
import {
  disabled,
  enabled,
  healthAfter,
  type HealthState,
  HEALTHY,
} from "../../lib/decide/health.ts";

const SETTINGS = { disableAfterMs: 1_000 };

const after = (outcomes: [ok: boolean, atMs: number][], from: HealthState = HEALTHY) =>
  outcomes.reduce((state, [ok, atMs]) => healthAfter(state, { ok, atMs }, SETTINGS), from);
const failures = (n: number): [boolean, number][] =>
  Array.from({ length: n }, (_, i) => [false, i]);

Deno.test("healthAfter() calls a lane failing from the fifth failure in a row", () => {
  const statuses = [4, 5].map((n) => after(failures(n)).status);
  assert.deepEqual(statuses, ["enabled", "failing"]);
});

Deno.test("healthAfter() clears failing with one success", () => {
  assert.deepEqual(after([...failures(9), [true, 10]]), HEALTHY);
});

Deno.test("healthAfter() disables after nothing but failures for so long", () => {
  const state = after([[false, 0], [false, 999], [false, 1_000]]);
  assert.deepEqual([state.status, state.disabledBy], ["disabled", "relay"]);
});

Deno.test("healthAfter() counts from the first failure after a success", () => {
  assert.equal(after([[false, 0], [true, 900], [false, 1_500], [false, 2_000]]).status, "enabled");
});

Deno.test("healthAfter() never enables a disabled lane", () => {
  const state = after([[true, 5], [false, 6], [true, 7]], disabled(HEALTHY));
  assert.deepEqual([state.status, state.disabledBy], ["disabled", "operator"]);
});

Deno.test("healthAfter() leaves an operator's disabling to the operator", () => {
  assert.equal(after([[false, 0], [false, 5_000]], disabled(HEALTHY)).disabledBy, "operator");
});

Deno.test("enabled() forgets the past, so that one failure does not disable again", () => {
  const relayDisabled = after([[false, 0], [false, 1_000]]);
  assert.equal(relayDisabled.status, "disabled");
  assert.equal(after([[false, 2_000]], enabled()).status, "enabled");
});
