import assert from "node:assert/strict";
import { type PayloadHead } from "../../lib/model.ts";
import { LIMITS } from "../../lib/limits.ts";
import { dueAfter, dueBehind, dueUntil, lanesWithDue, readDue } from "../../lib/store/due.ts";
import {
  firstRowBytes,
  payloadRows,
  readBody,
  readPayloadHead,
  readPayloadHeads,
  readWholeBody,
} from "../../lib/store/payload.ts";
import { pruneDeliveries } from "../../lib/store/prune.ts";
import { TestStore } from "./open_store.ts";

Deno.test("due entries are read by time, up to a time, after it and behind one", async () => {
  using test = await TestStore.open();
  const { store } = test;
  const added = [];
  for (const atMs of [1_000, 2_000, 2_000, 3_000]) added.push(await test.add("demo", atMs));
  const until = await dueUntil(store, "demo", 2_000, 10);
  assert.deepEqual(until.map(({ dueAtMs }) => dueAtMs), [1_000, 2_000, 2_000]);
  assert.deepEqual((await dueAfter(store, "demo", 1_999, 10)).map(({ dueAtMs }) => dueAtMs), [
    2_000,
    2_000,
    3_000,
  ]);
  assert.deepEqual(
    (await dueBehind(store, until[1], 10)).map(({ id }) => id),
    added.slice(2).map(({ value }) => value.id),
  );
});

Deno.test("records of due entries are found whether they lie together or far apart", async () => {
  using test = await TestStore.open();
  const wanted = [];
  for (let n = 0; n < 200; n++) {
    const { value } = await test.add("demo", 1_000 + n);
    if (n % 40 === 0 || n > 190) {
      wanted.push({ endpoint: "demo", dueAtMs: 1_000 + n, id: value.id });
    }
  }
  const missing = { endpoint: "demo", dueAtMs: 5, id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" };
  const shuffled = [wanted[3], missing, ...wanted.slice(0, 3), ...wanted.slice(4)];
  const found = await readDue(test.store, shuffled);
  assert.deepEqual(
    found.map((stored) => stored?.value.id),
    shuffled.map(({ id }) => id === missing.id ? undefined : id),
  );
});

Deno.test("lanes with work are named once each, also names that begin alike", async () => {
  using test = await TestStore.open();
  for (const endpoint of ["a", "a-b", "ab", "a", "z"]) await test.add(endpoint, 1_000);
  assert.deepEqual(await lanesWithDue(test.store), ["a", "a-b", "ab", "z"]);
});

for (
  const bytes of [
    0,
    1,
    LIMITS.chunkBytes - 100,
    LIMITS.chunkBytes,
    LIMITS.chunkBytes + 1,
    3 * LIMITS.chunkBytes,
    500_000,
  ]
) {
  Deno.test(`a body of ${bytes} bytes comes back from its rows as it went in`, async () => {
    using test = await TestStore.open();
    const body = crypto.getRandomValues(new Uint8Array(Math.min(bytes, 65_536)));
    const whole = new Uint8Array(bytes);
    for (let at = 0; at < bytes; at += body.length) whole.set(body.subarray(0, bytes - at), at);
    const head: PayloadHead = {
      endpoint: "demo",
      method: "POST",
      path: "/a%2Fb",
      query: "x=1&&",
      headers: [["x-tag", "one, a:b"], ["x-empty", ""], ["x-l", "caf\xe9"]],
      body: whole,
    };
    const rows = payloadRows("ID", head, whole, 200);
    assert(rows.every((row) => row.type === "set"));
    for (const row of rows) {
      if (row.type === "set") await test.store.kv.set(row.key, row.value);
    }
    const read = await readPayloadHead(test.store, "ID");
    assert(read !== undefined);
    assert.deepEqual([...read.headers], [...head.headers]);
    assert(read.body.length <= firstRowBytes(200));
    const { value } = await test.add("demo", 1_000, { bytes, chunks: rows.length });
    const delivery = { ...value, id: "ID" };
    assert.deepEqual(await readWholeBody(test.store, delivery, read), whole);
    const pieces = await Array.fromAsync(readBody(test.store, delivery, read));
    assert.equal(pieces.reduce((sum, piece) => sum + piece.length, 0), bytes);
    assert.deepEqual(
      (await readPayloadHeads(test.store, ["ID", "NONE"])).get("ID")?.query,
      "x=1&&",
    );
  });
}

Deno.test("a body with a row missing is never taken for a whole one", async () => {
  using test = await TestStore.open();
  const { value } = await test.add("demo", 1_000, { bytes: 200_000, chunks: 4 });
  const head = await readPayloadHead(test.store, value.id);
  assert(head !== undefined);
  await assert.rejects(Array.fromAsync(readBody(test.store, value, head)), /incomplete/);
});

Deno.test("pruning takes the settled that are past their time, with all their rows, and nothing else", async () => {
  using test = await TestStore.open();
  const old = { settledAtMs: 2_000, dueAtMs: 1 };
  const gone = await test.add("demo", 1_000, { state: "delivered", ...old });
  const dead = await test.add("demo", 1_001, { state: "dead", ...old });
  const open = await test.add("demo", 1_002);
  const young = await test.add("demo", 9_000, {
    state: "delivered",
    settledAtMs: 9_000,
    dueAtMs: 1,
  });
  await pruneDeliveries(test.store, "demo", { deliveredBeforeMs: 5_000, deadBeforeMs: -Infinity });
  const left = await Array.fromAsync(
    test.store.kv.list({ prefix: ["delivery"] }),
    ({ key }) => key[2],
  );
  assert.deepEqual(left, [dead, open, young].map(({ value }) => value.id));
  assert.equal(await readPayloadHead(test.store, gone.value.id), undefined);
  await pruneDeliveries(test.store, "demo", { deliveredBeforeMs: 5_000, deadBeforeMs: 5_000 });
  const last = await Array.fromAsync(
    test.store.kv.list({ prefix: ["delivery"] }),
    ({ key }) => key[2],
  );
  assert.deepEqual(last, [open, young].map(({ value }) => value.id));
});
