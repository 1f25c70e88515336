import assert from "node:assert/strict";
import { arrivals, post, runOf } from "./quiet_run.ts";

/** Resumed, a lane is read and claimed from in some thirty milliseconds: a stop hits every step. */
const STEPS_MS = 30;

for (const endpoint of ["free", "line", "rated"]) {
  Deno.test(`what a stop interrupts on ${endpoint} does not wait for a lease`, async () => {
    for (let stepMs = 0; stepMs < STEPS_MS; stepMs++) {
      const report = await runOf(1, [
        { do: "lane", atMs: 1_000, endpoint, slot: 0, action: "pause" },
        post(endpoint, 2_000, 1),
        { do: "lane", atMs: 5_000, endpoint, slot: 0, action: "resume" },
        { do: "stop", atMs: 5_000 + stepMs, slot: 0, downMs: 0 },
      ]);
      assert.deepEqual(report.violations, []);
      const [{ atS }] = arrivals(report);
      assert(atS < 15, `stopped ${stepMs} ms after the resume it arrived after ${atS} s`);
    }
  });
}
