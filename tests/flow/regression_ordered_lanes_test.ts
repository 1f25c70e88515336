import assert from "node:assert/strict";
import { arrivals, post, runOf } from "./quiet_run.ts";

Deno.test("an ordered lane goes on within seconds in another process than the last one", async () => {
  const report = await runOf(2, [post("line", 1_000, 1, 0), post("line", 2_000, 2, 1)]);
  assert.deepEqual(report.violations, []);
  assert(arrivals(report)[1].atS < 8, `the second arrived after ${arrivals(report)[1].atS} s`);
});

Deno.test("an ordered lane goes on within seconds after a restart", async () => {
  const report = await runOf(1, [
    post("line", 1_000, 1, 0),
    { do: "stop", atMs: 2_000, slot: 0, downMs: 0 },
    post("line", 7_500, 2, 0),
  ]);
  assert.deepEqual(report.violations, []);
  assert(arrivals(report)[1].atS < 10, `the second arrived after ${arrivals(report)[1].atS} s`);
});

Deno.test("a replayed head queues behind what has been waiting in an ordered lane", async () => {
  const report = await runOf(1, [
    post("line", 1_000, 1, 0),
    { do: "lane", atMs: 2_000, endpoint: "line", slot: 0, action: "pause" },
    post("line", 3_000, 2, 0),
    { do: "replay", atMs: 4_000, slot: 0, nth: 0 },
    { do: "lane", atMs: 5_000, endpoint: "line", slot: 0, action: "resume" },
  ]);
  assert.deepEqual(report.violations, []);
  const [first, second, third] = arrivals(report).map(({ id }) => id);
  assert.equal(third, first);
  assert.notEqual(second, first);
});

/** Not every answer has the header: several seeds, so that the one that opens the breaker does. */
Deno.test("an ordered lane's probe comes no earlier than its head's Retry-After", async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const report = await runOf(1, [
      { do: "target", atMs: 500, endpoint: "line", target: "one", behaviour: "unavailable" },
      post("line", 1_000, 1, 0),
    ], seed);
    assert.deepEqual(report.violations, []);
  }
});

/** The repeat has the first process read the lane's row anew; then the other one changes it. */
Deno.test("an ordered lane goes on within seconds where a process knew an old head", async () => {
  const report = await runOf(2, [
    post("line", 1_000, 1, 0),
    post("line", 7_000, 1, 0),
    post("line", 7_050, 2, 1),
    post("line", 7_300, 3, 0),
  ]);
  assert.deepEqual(report.violations, []);
  const last = arrivals(report).at(-1)!;
  assert(last.atS < 15, `the last arrived after ${last.atS} s`);
});
