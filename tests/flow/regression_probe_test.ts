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
