import assert from "node:assert/strict";
import { StoreUnavailable } from "../../lib/errors.ts";
import type { Kv } from "../../lib/store/kv.ts";
import { withReadLimit } from "../../lib/store/read_limit.ts";
import { TestClock } from "../helpers/clock.ts";
import { until } from "../helpers/wait.ts";

const LIMIT_MS = 20;

/** Reads of `kv` give no answer before the returned function is called. */
function silent(kv: Deno.Kv): { kv: Kv; back: () => void; asked: () => number } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const get = (async (key: Deno.KvKey) => {
    asked++;
    await promise;
    return await kv.get(key);
  }) as Kv["get"];
  return { kv: { ...boundReads(kv), get }, back: resolve, asked: () => asked };
}

const boundReads = (kv: Deno.Kv) =>
  ({ getMany: kv.getMany.bind(kv), list: kv.list.bind(kv) }) as unknown as Kv;

Deno.test("a read without an answer rejects in time", async () => {
  using kv = await Deno.openKv(":memory:");
  using clock = new TestClock();
  const store = silent(kv);
  const limited = withReadLimit(store.kv, clock, LIMIT_MS);
  await assert.rejects(limited.get(["a"]), StoreUnavailable);
  store.back();
});

Deno.test("with too many reads overdue no further one is asked until the store is back", async () => {
  using kv = await Deno.openKv(":memory:");
  using clock = new TestClock();
  const store = silent(kv);
  const limited = withReadLimit(store.kv, clock, LIMIT_MS);
  await Promise.allSettled(Array.from({ length: 40 }, () => limited.get(["a"])));
  const asked = store.asked();
  await assert.rejects(limited.get(["a"]), /40 reads have had no answer/);
  assert.equal(store.asked(), asked);
  store.back();
  const answers = () => limited.get(["a"]).then(() => true, () => false);
  await until(answers, { what: "reads to be asked again" });
});

Deno.test("what a store answers in time comes through: one key, many, lists", async () => {
  using kv = await Deno.openKv(":memory:");
  using clock = new TestClock();
  const limited = withReadLimit(kv, clock, 60_000);
  await limited.set(["a", 1], "one");
  await limited.atomic().set(["a", 2], "two").commit();
  const listed = await Array.fromAsync(limited.list({ prefix: ["a"] }), ({ value }) => value);
  const many = await limited.getMany([["a", 1], ["a", 2]]);
  assert.deepEqual(listed, ["one", "two"]);
  assert.deepEqual(many.map(({ value }) => value), listed);
  assert.equal((await limited.get(["a", 1])).value, "one");
});

Deno.test("a list without an answer rejects in time", async () => {
  using clock = new TestClock();
  const { promise, resolve } = Promise.withResolvers<IteratorResult<never>>();
  const entries = { next: () => promise, [Symbol.asyncIterator]: () => entries };
  const kv = { list: () => entries } as unknown as Kv;
  await assert.rejects(
    Array.fromAsync(withReadLimit(kv, clock, LIMIT_MS).list({ prefix: ["a"] })),
    StoreUnavailable,
  );
  resolve({ done: true, value: undefined });
});
