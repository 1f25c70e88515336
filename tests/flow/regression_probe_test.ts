import assert from "node:assert/strict";
import { arrivals, post, runOf } from "./quiet_run.ts";

Deno.test("a process that has not yet read of a pause does not probe beside it", async () => {
  const report = await runOf(2, [
    { do: "target", atMs: 500, endpoint: "free", target: "one", behaviour: "error" },
    // Three failures in a row open the breaker for five seconds.
    ...[1, 2, 3].map((event) => post("free", 1_000 + event, event, 0)),
    // The first process reads the lane, which the second one pauses while that is fresh.
    post("free", 5_600, 4, 0),
    { do: "lane", atMs: 5_650, endpoint: "free", slot: 1, action: "pause" },
  ]);
  assert.deepEqual(report.violations, []);
  const duringPause = arrivals(report).filter(({ atS }) => atS > 5.7 && atS < 39);
  assert.deepEqual(duringPause, []);
  assert(arrivals(report).length > 3, "nothing came after the pause");
});

Deno.test("a process whose places are full of attempts that hang takes no probe to wait behind them", async () => {
  const target = { do: "target", endpoint: "free", target: "one" } as const;
  const report = await runOf(2, [
    { ...target, atMs: 500, behaviour: "hangs" },
    ...[1, 2, 3, 4].map((event) => post("free", 1_000 + event, event, 0)),
    { ...target, atMs: 2_000, behaviour: "unavailable" },
    // The other process opens the breaker, for five seconds, and is gone.
    ...[5, 6, 7].map((event) => post("free", 2_100 + event, event, 1)),
    { do: "kill", atMs: 4_000, slot: 1, steps: 0, downMs: 200_000 },
    { ...target, atMs: 6_000, behaviour: "ok" },
    post("free", 6_900, 8, 0),
  ]);
  assert.deepEqual(report.violations, []);
  const [recovered] = arrivals(report).filter(({ atS }) => atS > 6);
  // The hanging attempts end after ten seconds.
  assert(recovered.atS < 13, `the first one after the outage came after ${recovered.atS} s`);
});
