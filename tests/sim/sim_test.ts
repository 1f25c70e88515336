import assert from "node:assert/strict";
import { planOf } from "./plan.ts";
import { simulate } from "./simulation.ts";
import { storyOf } from "./story.ts";

const SEEDS = 200;
const GROUP = 20;

for (let from = 1; from <= SEEDS; from += GROUP) {
  Deno.test(`every promise holds in the simulated worlds ${from} to ${from + GROUP - 1}`, async () => {
    for (let seed = from; seed < from + GROUP; seed++) {
      const report = await simulate(planOf(seed));
      assert.equal(
        report.violations.length,
        0,
        `${storyOf(report, false)}\nfor the shortest story: deno task sim --from ${seed} --seeds 1`,
      );
    }
  });
}

Deno.test("a seed decides everything", async () => {
  const [first, second] = [await simulate(planOf(7)), await simulate(planOf(7))];
  assert.deepEqual(first, second);
});

Deno.test("a store that only passes through changes no story", async () => {
  const plain = await simulate(planOf(3));
  assert.deepEqual(await simulate(planOf(3), (kv) => ({ ...kv })), plain);
});
