import assert from "node:assert/strict";
import { endpointSchema, toEndpoint } from "../../lib/endpoint.ts";
import { relayLaneId } from "../../lib/ids.ts";
import { Housekeeping } from "../../lib/flow/housekeeping.ts";
import { keys } from "../../lib/store/keys.ts";
import { CountingKv } from "../helpers/counting_kv.ts";
import { TestStore } from "../store/open_store.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

interface Parts {
  opened: TestStore;
  counting: CountingKv;
  /** Housekeeping of a new process. */
  start: () => Housekeeping;
  goTo: (nowMs: number) => void;
}

/** A platform that starts a process for each cron pass and ends it long before five minutes. */
async function withCron(
  run: (parts: Parts) => Promise<void>,
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
  const relay = { endpoint: demo, targets: [] };
  const start = () => new Housekeeping({ store, clock, endpoints, relay, observe: () => {} });
  const goTo = (atMs: number) => {
    nowMs = atMs;
  };
  await opened.add("demo", DAY_MS, { state: "delivered", settledAtMs: DAY_MS });
  await run({ opened, counting, start, goTo });
}

const deliveriesOf = async ({ store: { kv } }: TestStore, endpoint: string) =>
  (await Array.fromAsync(kv.list({ prefix: keys.deliveries(endpoint) }))).length;

Deno.test("retention is kept where no process lives for five minutes", async () => {
  await withCron(async ({ opened, start, goTo }) => {
    const left = () => deliveriesOf(opened, "demo");
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

Deno.test("of many relay lanes each gets its turn, though no process sees two passes", async () => {
  // More than one pass looks at, spread as hashes are.
  const lanes = Array.from(
    { length: 600 },
    (_, n) =>
      relayLaneId(Math.floor(n / 600 * 2 ** 40).toString(16).padStart(10, "0").padEnd(64, "0")),
  );
  await withCron(async ({ opened, start, goTo }) => {
    for (const [n, id] of lanes.entries()) {
      const settledAtMs = n < 550 ? 9 * DAY_MS : DAY_MS;
      await opened.add(id, settledAtMs, { state: "delivered", settledAtMs });
      await opened.store.kv.set(keys.target(id), { targetUrl: "https://app.example.com/" });
    }
    const left = async () => {
      const each = await Promise.all(lanes.map((id) => deliveriesOf(opened, id)));
      return each.reduce((sum, n) => sum + n);
    };
    for (let pass = 0; pass < 30 && await left() > 550; pass++) {
      goTo(9 * DAY_MS + pass * 5 * MINUTE_MS);
      await start().cronPass();
    }
    assert.equal(await left(), 550);
  });
});
