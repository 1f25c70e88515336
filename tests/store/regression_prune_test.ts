import assert from "node:assert/strict";
import { replayed } from "../../lib/decide/transition.ts";
import type { Delivery } from "../../lib/model.ts";
import { change, readDelivery } from "../../lib/store/door.ts";
import { dropDue } from "../../lib/store/due.ts";
import { keys } from "../../lib/store/keys.ts";
import type { Kv, StoredDelivery } from "../../lib/store/kv.ts";
import { pruneDeliveries } from "../../lib/store/prune.ts";
import { sweepStaging } from "../../lib/store/staging.ts";
import { TestStore } from "./open_store.ts";

/** More rows than one commit deletes. */
const CHUNKS = 600;
const CUTOFF = { deliveredBeforeMs: 5_000, deadBeforeMs: -Infinity };

/** A delivered delivery with a body of many rows. */
async function addLarge(opened: TestStore): Promise<StoredDelivery> {
  const { store: { kv } } = opened;
  const { value: { dueAtMs, ...open } } = await opened.add("hooks", 1_000, { chunks: CHUNKS });
  for (let row = 1; row < CHUNKS; row++) await kv.set(keys.payload(open.id, row), row);
  const value: Delivery = { ...open, state: "delivered", settledAtMs: 2_000 };
  await kv.delete(keys.due("hooks", dueAtMs!, open.id));
  const { versionstamp } = await kv.set(keys.delivery("hooks", open.id), value);
  return { value, versionstamp };
}

const rowsOf = async (kv: Kv, id: string) =>
  (await Array.fromAsync(kv.list({ prefix: keys.payloads(id) }))).length;

/** Does something ahead of the first commit. */
function ahead(kv: Kv, first: () => Promise<unknown>): Kv {
  let todo: typeof first | undefined = first;
  const atomic = () => {
    const operation = kv.atomic();
    const commit = operation.commit.bind(operation);
    return Object.assign(operation, {
      async commit() {
        const now = todo;
        todo = undefined;
        await now?.();
        return await commit();
      },
    });
  };
  return { list: kv.list.bind(kv), atomic } as Kv;
}

Deno.test("a large delivery that is replayed while it is pruned keeps its whole body", async () => {
  using opened = await TestStore.open();
  const { store } = opened;
  const before = await addLarge(opened);
  const kv = ahead(store.kv, () => change(store, before, replayed(before.value, 3_000)));
  await pruneDeliveries({ ...store, kv }, "hooks", CUTOFF);
  const { id } = before.value;
  assert.equal((await readDelivery(store, "hooks", id))?.value.state, "pending");
  assert.equal(await rowsOf(store.kv, id), CHUNKS);
});

Deno.test("what is left of a large body goes with the next sweep", async () => {
  using opened = await TestStore.open();
  const { store } = opened;
  const { value: { id } } = await addLarge(opened);
  await pruneDeliveries(store, "hooks", CUTOFF);
  assert.equal(await readDelivery(store, "hooks", id), undefined);
  assert.equal(await sweepStaging(store, store.clock.nowMs(), 10), 1);
  assert.equal(await rowsOf(store.kv, id), 0);
});

Deno.test("a due entry that a replay wrote anew is not cleared away with the old one", async () => {
  using opened = await TestStore.open();
  const { store } = opened;
  const settled = await addLarge(opened);
  const { endpoint, id } = settled.value;
  assert(await change(store, settled, replayed(settled.value, 1_000)) !== false);
  await dropDue(store, { endpoint, dueAtMs: 1_000, id }, settled);
  const { versionstamp } = await store.kv.get(keys.due(endpoint, 1_000, id));
  assert.notEqual(versionstamp, null);
});
