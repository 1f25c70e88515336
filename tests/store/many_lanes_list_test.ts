import assert from "node:assert/strict";
import { cancelled, claimed } from "../../lib/decide/transition.ts";
import type { Delivery } from "../../lib/model.ts";
import { change } from "../../lib/store/door.ts";
import type { Store, StoredDelivery } from "../../lib/store/kv.ts";
import { type DeliveryFilter, listDeliveries } from "../../lib/store/list.ts";
import { CountingKv } from "../helpers/counting_kv.ts";
import { test } from "../helpers/group.ts";
import { inParallel } from "../helpers/parallel.ts";
import { TestStore } from "./open_store.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const SECOND = 1_000;

/** One delivery a lane, a second apart. */
const aLaneEach = (at: TestStore, lanes: number) =>
  inParallel(lanes, 100, (n) => at.add(`lane-${n}`, START + n * SECOND));

async function allPages(store: Store, filter: DeliveryFilter, limit: number): Promise<Delivery[]> {
  const found: Delivery[] = [];
  let before: string | undefined;
  do {
    const { items, next } = await listDeliveries(store, undefined, filter, limit, before);
    found.push(...items);
    before = next;
  } while (before !== undefined);
  return found;
}

const ids = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id);

const newestFirst = (stored: readonly StoredDelivery[]) =>
  ids(stored.map(({ value }) => value)).toSorted().toReversed();

test("many lanes: every state, and all together, are paged newest first", async () => {
  using at = await TestStore.open();
  const stored = await aLaneEach(at, 90);
  const some = (rest: number) => stored.filter((_, n) => n % 3 === rest);
  for (const one of some(0)) {
    await change(at.store, one, claimed(one.value, "me", START, START + 60 * SECOND));
  }
  for (const one of some(1)) await change(at.store, one, cancelled(one.value, START));
  const expected: [DeliveryFilter, StoredDelivery[]][] = [
    [{}, stored],
    [{ state: "in_flight" }, some(0)],
    [{ state: "dead" }, some(1)],
    [{ reason: "cancelled" }, some(1)],
    [{ reason: "expired" }, []],
    [{ state: "pending" }, some(2)],
    [{ state: "delivered" }, []],
  ];
  for (const [filter, wanted] of expected) {
    assert.deepEqual(ids(await allPages(at.store, filter, 7)), newestFirst(wanted));
  }
});

test("many lanes: since is included, until is not", async () => {
  using at = await TestStore.open();
  const stored = await aLaneEach(at, 90);
  const filter = { sinceMs: START + 20 * SECOND, untilMs: START + 60 * SECOND };
  const wanted = newestFirst(stored.slice(20, 60));
  assert.deepEqual(ids(await allPages(at.store, filter, 7)), wanted);
  assert.deepEqual(ids(await allPages(at.store, { ...filter, state: "pending" }, 7)), wanted);
});

test("many lanes: a body of many chunks is listed once, one that is being staged not yet", async () => {
  using at = await TestStore.open();
  const stored = await aLaneEach(at, 40);
  const chunk = new Uint8Array(10);
  for (let row = 1; row < 30; row++) {
    await at.store.kv.set(["payload", stored[20].value.id, row], chunk);
  }
  await at.store.kv.set(["payload", stored[30].value.id.replace(/.$/, "~"), 1], chunk);
  assert.deepEqual(ids(await allPages(at.store, {}, 7)), newestFirst(stored));
});

test("more dead ones over many lanes than one page may look at are paged all the same", async () => {
  using at = await TestStore.open();
  const stored = await inParallel(10_050, 200, (n) => at.add(`lane-${n % 40}`, START + n));
  await inParallel(
    stored.length,
    200,
    (n) => change(at.store, stored[n], cancelled(stored[n].value, START)),
  );
  assert.deepEqual(ids(await allPages(at.store, { state: "dead" }, 500)), newestFirst(stored));
});

test("a page over many lanes reads as little of the store as one over few", async () => {
  using at = await TestStore.open();
  await aLaneEach(at, 1_000);
  const counting = new CountingKv(at.store.kv);
  const { items } = await listDeliveries({ ...at.store, kv: counting.kv }, undefined, {}, 50);
  assert.equal(items.length, 50);
  assert(counting.take().calls < 60);
});
