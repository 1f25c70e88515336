import assert from "node:assert/strict";
import { arrivals, post, runOf } from "./quiet_run.ts";

Deno.test("what a recovery lets out and the rate does not allow yet goes out with the rate", async () => {
  const target = { do: "target", endpoint: "rated", target: "one" } as const;
  const report = await runOf(1, [
    { ...target, atMs: 500, behaviour: "error" },
    // Tried four times, then due in half a minute.
    post("rated", 1_000, 1),
    post("rated", 8_500, 2),
    { ...target, atMs: 20_000, behaviour: "ok" },
    post("rated", 23_000, 3),
  ]);
  assert.deepEqual(report.violations, []);
  const sent = arrivals(report);
  const last = sent.findLast(({ id }) => id === sent[0].id);
  assert(last !== undefined && last.atS < 30, `the first one was delivered after ${last?.atS} s`);
});
