import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { allDeliveries, page, statusOf } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";

const MANY = 120;

/** Requests that must be refused: a typo must never list, or replay, everything. */
const REFUSED = [
  "limit=0",
  "limit=-1",
  "limit=abc",
  "limit=1.5",
  "cursor=%25%25%25",
  "cursor=AAAA",
  `cursor=${"A".repeat(5_000)}`,
  "state=lost",
  "reason=bored",
  "since=yesterday",
  "until=-1",
  "endpont=many",
];

group("lists", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [endpoint("many", sink), endpoint("ten", sink), endpoint("none", sink)],
  });
  const accepted = await inParallel(MANY, 40, () => accept(relay, "many"));
  const ids = accepted.map(({ deliveryId }) => deliveryId).toSorted().toReversed();
  await inParallel(10, 10, () => accept(relay, "ten", { headers: {} }));

  await behaviour("pages hold every row once, newest first, although times are equal", async () => {
    const found = await allDeliveries(relay, "endpoint=many&limit=7");
    assert.deepEqual(found.map(({ id }) => id), ids);
  });

  await behaviour("the list over all endpoints holds every row once", async () => {
    const found = await allDeliveries(relay, "limit=9");
    assert.equal(new Set(found.map(({ id }) => id)).size, MANY + 10);
    assert.equal(found.length, MANY + 10);
    assert.deepEqual(found.map(({ id }) => id), found.map(({ id }) => id).toSorted().toReversed());
  });

  await behaviour("a page that is just full has no next one", async () => {
    assert.equal((await page(relay, "endpoint=ten&limit=10")).cursor, null);
    const { items, cursor } = await page(relay, "endpoint=ten&limit=5");
    assert.equal(items.length, 5);
    const rest = await page(relay, `endpoint=ten&limit=5&cursor=${encodeURIComponent(cursor!)}`);
    assert.deepEqual([rest.items.length, rest.cursor], [5, null]);
  });

  await behaviour("an endpoint without deliveries has an empty list", async () => {
    assert.deepEqual(await page(relay, "endpoint=none"), { items: [], cursor: null });
  });

  for (const query of REFUSED) {
    await behaviour(`?${query.slice(0, 20)} is refused with a problem`, async () => {
      const response = await relay.api(`/deliveries?${query}`);
      const { code } = await response.json();
      assert.deepEqual([response.status, code], [400, "bad_parameter"]);
    });
  }

  await behaviour("an empty cursor is the first page", async () => {
    const { items } = await page(relay, "endpoint=many&limit=3&cursor=");
    assert.deepEqual(items.map(({ id }) => id), ids.slice(0, 3));
  });

  await behaviour("an unknown endpoint is a 404", async () => {
    assert.equal(await statusOf(relay.api("/deliveries?endpoint=nope")), 404);
  });

  await behaviour("an absurd limit is refused, or its pages go on without a gap", async () => {
    const response = await relay.api("/deliveries?endpoint=many&limit=100000");
    await response.body?.cancel();
    if (response.status === 400) return;
    const found = await allDeliveries(relay, "endpoint=many&limit=100000");
    assert.deepEqual(found.map(({ id }) => id), ids);
  });

  await behaviour("since is included and until is not", async () => {
    const all = await allDeliveries(relay, "endpoint=many&limit=50");
    const middle = all[60];
    const time = encodeURIComponent(middle.acceptedAt);
    const newer = await allDeliveries(relay, `endpoint=many&since=${time}&limit=50`);
    const older = await allDeliveries(relay, `endpoint=many&until=${time}&limit=50`);
    assert(newer.some(({ id }) => id === middle.id));
    assert.equal(newer.length + older.length, MANY);
    assert(older.every(({ acceptedAt }) => acceptedAt < middle.acceptedAt));
  });
});
