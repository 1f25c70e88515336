import assert from "node:assert/strict";
import {
  attempted,
  cancelled,
  claimed,
  released,
  replayed,
  revived,
} from "../../lib/decide/transition.ts";
import type { Delivery } from "../../lib/model.ts";
import { change } from "../../lib/store/door.ts";
import type { StoredDelivery } from "../../lib/store/kv.ts";
import { TestStore } from "./open_store.ts";

/** What the indexes say of a delivery, to be compared with its record. */
async function indexes({ store }: TestStore, { endpoint, id }: Delivery) {
  const due = await Array.fromAsync(
    store.kv.list({ prefix: ["due", endpoint] }),
    ({ key }) => key[2],
  );
  const dead = await store.kv.get<{ reason: string }>(["dead", endpoint, id]);
  return { due, dead: dead.value?.reason };
}

async function changed(
  test: TestStore,
  before: StoredDelivery,
  after: Delivery,
): Promise<StoredDelivery> {
  const result = await change(test.store, before, after);
  assert(result !== false);
  return result;
}

Deno.test("due and dead entries follow the record through its whole life", async () => {
  using test = await TestStore.open();
  const tried = { atMs: 2_000, ms: 5, status: 500 };
  const pending = await test.add("demo", 1_000);
  assert.deepEqual(await indexes(test, pending.value), { due: [1_000], dead: undefined });
  const held = await changed(test, pending, claimed(pending.value, "me", 2_000, 62_000));
  assert.deepEqual((await indexes(test, held.value)).due, [62_000]);
  const retry = { to: "retry", retryAtMs: 7_000 } as const;
  const waiting = await changed(test, held, attempted(held.value, tried, retry, 2_005));
  assert.deepEqual((await indexes(test, waiting.value)).due, [7_000]);
  const again = await changed(test, waiting, claimed(waiting.value, "me", 7_000, 67_000));
  const end = { to: "dead", reason: "exhausted" } as const;
  const dead = await changed(test, again, attempted(again.value, tried, end, 7_005));
  assert.deepEqual(await indexes(test, dead.value), { due: [], dead: "exhausted" });
  const back = await changed(test, dead, replayed(dead.value, 9_000));
  assert.deepEqual(await indexes(test, back.value), { due: [9_000], dead: undefined });
  assert.equal(back.value.reason, undefined);
  const given = await changed(test, back, cancelled(back.value, 9_500));
  assert.deepEqual(await indexes(test, given.value), { due: [], dead: "cancelled" });
});

Deno.test("of two changes of one version the second is refused and leaves nothing", async () => {
  using test = await TestStore.open();
  const pending = await test.add("demo", 1_000);
  assert(await change(test.store, pending, claimed(pending.value, "one", 2_000, 62_000)));
  assert.equal(
    await change(test.store, pending, claimed(pending.value, "two", 2_000, 99_000)),
    false,
  );
  assert.deepEqual((await indexes(test, pending.value)).due, [62_000]);
});

Deno.test("a change that the table of states does not have is a fault", async () => {
  using test = await TestStore.open();
  const pending = await test.add("demo", 1_000);
  await assert.rejects(
    change(test.store, pending, { ...pending.value, state: "delivered" }),
    /state is pending/,
  );
});

Deno.test("a lapsed lease is taken over, and its attempt is kept as lost", async () => {
  using test = await TestStore.open();
  const pending = await test.add("demo", 1_000);
  const held = await changed(test, pending, claimed(pending.value, "gone", 2_000, 62_000));
  const taken = await changed(test, held, claimed(held.value, "me", 63_000, 123_000));
  assert.deepEqual(taken.value.attempts.map(({ n, code, outcome }) => [n, code, outcome]), [[
    1,
    "lost",
    "refunded",
  ]]);
  const twice = claimed(taken.value, "other", 124_000, 184_000);
  assert.deepEqual(twice.attempts.map(({ outcome }) => outcome), ["refunded", "retry"]);
});

Deno.test("released and revived deliveries are due again, the one with its old budget, the other with a new one", async () => {
  using test = await TestStore.open();
  const pending = await test.add("demo", 1_000);
  const held = await changed(test, pending, claimed(pending.value, "me", 2_000, 62_000));
  const free = await changed(test, held, released(held.value, 2_500));
  assert.deepEqual([free.value.state, free.value.lease, free.value.attemptCount], [
    "pending",
    undefined,
    0,
  ]);
  const dead = { ...free.value, state: "dead", attemptCount: 3, reason: "rejected" } as Delivery;
  assert.deepEqual(revived(dead, 9_000).round, { attemptsBefore: 3, refunds: 0 });
});
