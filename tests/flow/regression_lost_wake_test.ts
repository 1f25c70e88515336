import assert from "node:assert/strict";
import { until } from "../helpers/wait.ts";
import { CountedRelays } from "./counted_relay.ts";

Deno.test("a lane that is woken at any step of a pass is looked at", async () => {
  await using relays = await CountedRelays.open(["a", "b"]);
  const { relay: { lanes, drain } } = relays.make();
  const a = lanes.get("a")!;
  const b = lanes.get("b")!;
  for (const lane of [a, b]) {
    await lanes.update(lane, (row) => ({ ...row, pausedAtMs: 1 }));
  }
  for (let steps = 0; steps < 40; steps++) {
    for (const lane of [a, b]) await lanes.reread(lane);
    b.behind = false;
    drain.wake(a);
    for (let n = 0; n < steps; n++) await undefined;
    drain.wake(b);
    // A look at a lane that must not send leaves this behind.
    await until(() => b.behind, { what: `a wake ${steps} steps into a pass` });
  }
  assert.equal(b.inFlight, 0);
});
