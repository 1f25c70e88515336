import assert from "node:assert/strict";
import { ClockWatch } from "../../lib/flow/clock_watch.ts";

/** What a clock is ahead of the one that only grows, look by look, and the steps counted by then. */
const LOOKS: [name: string, aheadMs: number[], steps: number[]][] = [
  ["a step back counts once", [0, -3_600_000, -3_600_000], [0, 1, 1]],
  ["a step forward does not count", [0, 3_600_000, 3_600_000], [0, 0, 0]],
  ["what went forward and comes back counts", [0, 3_600_000, 0], [0, 0, 1]],
  ["ticks of two clocks do not count", [0, -1, 1, -1], [0, 0, 0, 0]],
  ["each step back counts", [0, -5_000, -10_000], [0, 1, 2]],
];

for (const [name, aheads, steps] of LOOKS) {
  Deno.test(`of a clock's steps ${name}`, () => {
    let aheadMs = 0;
    const clock = {
      nowMs: () => 9_000_000 + aheadMs,
      monotonicMs: () => 50,
      after: () => () => {},
    };
    const watch = new ClockWatch(clock);
    const counted = aheads.map((next) => {
      aheadMs = next;
      return watch.setBacks();
    });
    assert.deepEqual(counted, steps);
  });
}
