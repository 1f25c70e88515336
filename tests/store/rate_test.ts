import assert from "node:assert/strict";
import { reserveAttempts } from "../../lib/store/rate.ts";
import { TestStore } from "./open_store.ts";

/** The store as a process sees it whose clock is so far ahead. */
function aheadBy(ms: number, { store }: TestStore): TestStore["store"] {
  const { clock } = store;
  const ahead = {
    nowMs: () => clock.nowMs() + ms,
    monotonicMs: () => clock.monotonicMs(),
    after: clock.after.bind(clock),
  };
  return { ...store, clock: ahead };
}

const HOUR_MS = 3_600_000;

Deno.test("a clock that is stepped back by an hour does not hold a lane with a rate", async () => {
  using opened = await TestStore.open();
  await reserveAttempts(aheadBy(HOUR_MS, opened), "hooks", 4, 1);
  const { granted } = await reserveAttempts(opened.store, "hooks", 4, 3);
  assert.equal(granted, 1);
  const next = await reserveAttempts(opened.store, "hooks", 4, 1);
  assert.equal(next.granted, 0);
  assert(next.nextAtMs <= opened.store.clock.nowMs() + 250);
});

Deno.test("a clock that is a little behind waits for the others", async () => {
  using opened = await TestStore.open();
  await reserveAttempts(aheadBy(500, opened), "hooks", 4, 1);
  const { granted, nextAtMs } = await reserveAttempts(opened.store, "hooks", 4, 1);
  assert.equal(granted, 0);
  assert(nextAtMs > opened.store.clock.nowMs() + 500);
});
