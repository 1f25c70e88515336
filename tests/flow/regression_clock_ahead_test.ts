import assert from "node:assert/strict";
import { arrivals, post, runOf } from "./quiet_run.ts";

const HOUR_MS = 3_600_000;

Deno.test("a clock that goes ahead during an attempt, and dies, holds no retry", async () => {
  const report = await runOf(1, [
    post("bare", 900, 1),
    { do: "target", atMs: 1_000, endpoint: "bare", target: "one", behaviour: "hangs" },
    post("bare", 2_000, 2),
    { do: "clock", atMs: 3_000, slot: 0, byMs: HOUR_MS },
    { do: "target", atMs: 4_000, endpoint: "bare", target: "one", behaviour: "ok" },
    { do: "kill", atMs: 5_300, slot: 0, steps: 1, downMs: 1_000 },
  ]);
  assert.deepEqual(report.violations, []);
  const [, first, second] = arrivals(report);
  assert.equal(first.id, second.id);
  assert(second.atS < 40, `tried again after ${second.atS - first.atS} s`);
});

Deno.test("a lane that a process leased by a clock ahead, before it died, goes on", async () => {
  const report = await runOf(2, [
    { do: "clock", atMs: 1_000, slot: 1, byMs: HOUR_MS },
    post("line", 2_000, 1, 1),
    { do: "kill", atMs: 3_000, slot: 1, steps: 1, downMs: 30_000 },
    post("line", 5_000, 2),
  ]);
  assert.deepEqual(report.violations, []);
  assert.equal(arrivals(report).length, 2);
});
