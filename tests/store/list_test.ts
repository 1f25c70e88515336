import assert from "node:assert/strict";
import { cancelled, claimed } from "../../lib/decide/transition.ts";
import { change } from "../../lib/store/door.ts";
import type { StoredDelivery } from "../../lib/store/kv.ts";
import {
  type DeliveryFilter,
  endpointsWithDeliveries,
  findDelivery,
  listDeliveries,
} from "../../lib/store/list.ts";
import { test } from "../helpers/group.ts";
import { inParallel } from "../helpers/parallel.ts";
import { TestStore } from "./open_store.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const MINUTE = 60_000;
const BOTH = ["one", "two"];

/** Reads all pages; `between` runs before each further one. */
async function pages(
  { store }: TestStore,
  filter: DeliveryFilter,
  limit: number,
  between: (page: number) => Promise<unknown> = () => Promise.resolve(),
): Promise<string[]> {
  const ids: string[] = [];
  let before: string | undefined;
  for (let page = 0;; page++) {
    const { items, next } = await listDeliveries(store, undefined, filter, limit, before);
    ids.push(...items.map(({ id }) => id));
    if (next === undefined) return ids;
    before = next;
    await between(page);
  }
}

const newestFirst = (stored: readonly StoredDelivery[]) =>
  stored.map(({ value }) => value.id).toSorted().toReversed();

const claim = (at: TestStore, stored: StoredDelivery) =>
  change(at.store, stored, claimed(stored.value, "me", START, START + 99 * MINUTE));

const kill = (at: TestStore, stored: StoredDelivery, atMs: number) =>
  change(at.store, stored, cancelled(stored.value, atMs));

test("paging over 10,000 while new ones arrive has no gap and no repeat", async () => {
  using at = await TestStore.open();
  const stored = await inParallel(10_000, 200, (n) => at.add(BOTH[n % 2], START + n));
  let added = 0;
  const found = await pages(at, {}, 97, async (page) => {
    await at.add(BOTH[page % 2], START + 20_000 + added++);
  });
  assert.deepEqual(found, newestFirst(stored));
  assert(added > 100);
});

test("paging over many of the same instant has no gap and no repeat", async () => {
  using at = await TestStore.open();
  const stored = await inParallel(600, 200, (n) => at.add(BOTH[n % 2], START));
  assert.deepEqual(await pages(at, {}, 7), newestFirst(stored));
});

test("a state's pages hold that state alone, over all endpoints", async () => {
  using at = await TestStore.open();
  const stored = await inParallel(300, 100, (n) => at.add(BOTH[n % 2], START + n));
  const inFlight = stored.filter((_, n) => n % 3 === 0);
  const dead = stored.filter((_, n) => n % 3 === 1);
  const pending = stored.filter((_, n) => n % 3 === 2);
  await Promise.all(inFlight.map((one) => claim(at, one)));
  await Promise.all(dead.map((one) => kill(at, one, START)));
  assert.deepEqual(await pages(at, { state: "pending" }, 9), newestFirst(pending));
  assert.deepEqual(await pages(at, { state: "in_flight" }, 9), newestFirst(inFlight));
  assert.deepEqual(await pages(at, { state: "dead" }, 9), newestFirst(dead));
  assert.deepEqual(await pages(at, { state: "dead", reason: "cancelled" }, 500), newestFirst(dead));
  assert.deepEqual(await pages(at, { state: "dead", reason: "expired" }, 500), []);
  assert.deepEqual(await pages(at, { state: "delivered" }, 9), []);
});

test("old pending ones are on the first page, however many came after them", async () => {
  using at = await TestStore.open();
  const waiting = [await at.add("one", START), await at.add("two", START + 1)];
  await inParallel(11_000, 200, async (n) => {
    const stored = await at.add("one", START + 1_000 + n);
    await kill(at, stored, START + 1_000 + n);
  });
  const { items, next } = await listDeliveries(at.store, undefined, { state: "pending" }, 50);
  assert.deepEqual(items.map(({ id }) => id), newestFirst(waiting));
  assert.equal(next, undefined);
});

test("pending ones beyond what one page may look at are paged all the same", async () => {
  using at = await TestStore.open();
  const stored = await inParallel(10_500, 200, (n) => at.add("one", START + n));
  assert.deepEqual(await pages(at, { state: "pending" }, 500), newestFirst(stored));
});

test("since is included, until is not, and a page does not read far beyond them", async () => {
  using at = await TestStore.open();
  const stored = await inParallel(300, 100, (n) => at.add(BOTH[n % 2], START + n * MINUTE));
  const between = { sinceMs: START + 100 * MINUTE, untilMs: START + 200 * MINUTE };
  const wanted = newestFirst(stored.slice(100, 200));
  assert.deepEqual(await pages(at, between, 500), wanted);
  assert.deepEqual(await pages(at, { ...between, state: "pending" }, 7), wanted);
  const early = { untilMs: START + 10 * MINUTE };
  const { items } = await listDeliveries(at.store, undefined, early, 5);
  assert.deepEqual(items.map(({ id }) => id), newestFirst(stored.slice(5, 10)));
});

test("a delivery whose body took minutes to arrive is found by its acceptance", async () => {
  using at = await TestStore.open();
  const acceptedAtMs = START + 10 * MINUTE;
  const slow = await at.add("one", START, { acceptedAtMs });
  const filter = { sinceMs: acceptedAtMs, untilMs: acceptedAtMs + 1 };
  assert.deepEqual(await pages(at, filter, 10), newestFirst([slow]));
});

test("endpoints with deliveries are named once each, and ids lead to records", async () => {
  using at = await TestStore.open();
  await inParallel(20, 20, (n) => at.add(BOTH[n % 2], START + n));
  assert.deepEqual(await endpointsWithDeliveries(at.store), BOTH);
  const { value } = await at.add("one", START);
  assert.equal((await findDelivery(at.store, value.id))?.value.endpoint, "one");
  for (const id of ["", "nope", "A".repeat(5_000), value.id.toLowerCase()]) {
    assert.equal(await findDelivery(at.store, id), undefined);
  }
});
