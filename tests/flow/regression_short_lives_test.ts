import assert from "node:assert/strict";
import { endpointSchema, toEndpoint } from "../../lib/endpoint.ts";
import { Housekeeping } from "../../lib/flow/housekeeping.ts";
import { keys } from "../../lib/store/keys.ts";
import { CountingKv } from "../helpers/counting_kv.ts";
import { TestStore } from "../store/open_store.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A platform that starts a process for each cron pass and ends it long before five minutes. */
async function withCron(
  run: (parts: {
    store: TestStore["store"];
    counting: CountingKv;
    start: () => Housekeeping;
    goTo: (nowMs: number) => void;
  }) => Promise<void>,
): Promise<void> {
  using opened = await TestStore.open();
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} };
  const demo = toEndpoint(
    endpointSchema.parse({ id: "demo", targetUrl: "https://app.example.com/", retention: "1d" }),
  );
  const counting = new CountingKv(opened.store.kv);
  const store = { ...opened.store, kv: counting.kv, clock };
  const endpoints = new Map([[demo.id, demo]]);
  const start = () => new Housekeeping({ store, clock, endpoints, observe: () => {} });
  const goTo = (atMs: number) => {
    nowMs = atMs;
  };
  await opened.add("demo", DAY_MS, { state: "delivered", settledAtMs: DAY_MS });
  await run({ store: opened.store, counting, start, goTo });
}

Deno.test("retention is kept where no process lives for five minutes", async () => {
  await withCron(async ({ store, start, goTo }) => {
    const left = async () =>
      (await Array.fromAsync(store.kv.list({ prefix: keys.deliveries("demo") }))).length;
    for (const minute of [1, 2, 3, 4]) {
      goTo(3 * DAY_MS + minute * MINUTE_MS);
      await start().cronPass();
      assert.equal(await left(), 1);
    }
    goTo(3 * DAY_MS + 5 * MINUTE_MS + 20_000);
    await start().cronPass();
    assert.equal(await left(), 0);
  });
});

Deno.test("a process that has just made a pass makes none by cron", async () => {
  await withCron(async ({ counting, start, goTo }) => {
    const housekeeping = start();
    goTo(3 * DAY_MS - MINUTE_MS);
    await housekeeping.pass();
    counting.take();
    goTo(3 * DAY_MS);
    await housekeeping.cronPass();
    assert.equal(counting.take().calls, 0);
    goTo(3 * DAY_MS + 5 * MINUTE_MS);
    await housekeeping.cronPass();
    assert(counting.take().calls > 0);
  });
});
