import assert from "node:assert/strict";
import { RELAYED_LANES } from "../sim/settings.ts";
import { arrivals, post, runOf } from "./quiet_run.ts";

Deno.test("relay mode's lanes are found as soon as the store is back after a start", async () => {
  const [endpoint] = RELAYED_LANES;
  const report = await runOf(1, [
    { do: "target", atMs: 500, endpoint, target: "one", behaviour: "error" },
    post(endpoint, 1_000, 1),
    { do: "stop", atMs: 3_000, slot: 0, downMs: 0 },
    { do: "store", atMs: 6_000, mode: "down", forMs: 5_000 },
    { do: "target", atMs: 9_000, endpoint, target: "one", behaviour: "ok" },
  ]);
  assert.deepEqual(report.violations, []);
  const last = arrivals(report).at(-1);
  assert(last !== undefined && last.atS > 8 && last.atS < 20, `delivered at ${last?.atS} s`);
});
