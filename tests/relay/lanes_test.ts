import assert from "node:assert/strict";
import { replayed } from "../../lib/decide/transition.ts";
import { Lanes } from "../../lib/flow/lanes.ts";
import { relayEndpoint, RelayLanes, storedEndpoint } from "../../lib/flow/relay_lanes.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Clock } from "../../lib/ports.ts";
import { relayVariables, toRelaySettings } from "../../lib/relay_settings.ts";
import { activeLanes, dropTarget, readTarget } from "../../lib/store/active.ts";
import { change } from "../../lib/store/door.ts";
import { targetMark } from "../../lib/store/relay_marks.ts";
import { TestStore } from "../store/open_store.ts";
import { z } from "zod";

const SETTINGS = toRelaySettings(
  z.object(relayVariables).parse({ RELAY_TARGETS: "https://app.example.com" }),
);
const TARGET = "https://app.example.com/in?key=1";

/** The relay lanes of one process on a store, and which of them it woke. */
class Process {
  readonly lanes: Lanes;
  readonly relayLanes: RelayLanes;
  readonly woken: string[] = [];
  aheadMs = 0;

  constructor({ store }: TestStore, settings = SETTINGS) {
    const clock: Clock = {
      nowMs: () => store.clock.nowMs(),
      monotonicMs: () => store.clock.monotonicMs() + this.aheadMs,
      after: (delayMs, fn) => store.clock.after(delayMs, fn),
    };
    const observe = (event: unknown) => assert.fail(JSON.stringify(event));
    this.lanes = new Lanes(
      store,
      [],
      (url) => url,
      observe,
      (id) => storedEndpoint(store, settings, id),
    );
    this.relayLanes = new RelayLanes({
      ...{ store, clock, observe, settings, lanes: this.lanes },
      wake: (lane) => this.woken.push(lane.id),
    });
  }

  get inMemory(): string[] {
    return [...this.lanes.all()].map(({ id }) => id);
  }
}

/** Stores one delivery for the target, as its acceptance does. */
async function accepted(store: TestStore, targetUrl = TARGET) {
  const endpoint = relayEndpoint(SETTINGS!, targetUrl);
  assert(endpoint !== undefined);
  const stored = await store.add(endpoint.id, Date.now());
  for (const mark of targetMark(endpoint)) {
    if (mark.type === "set") await store.store.kv.set(mark.key, mark.value);
  }
  return { id: endpoint.id, stored };
}

async function delivered(store: TestStore, { stored }: Awaited<ReturnType<typeof accepted>>) {
  const { dueAtMs: _, ...value } = stored.value;
  const claimed = await change(store.store, stored, { ...stored.value, state: "in_flight" });
  assert(claimed !== false);
  const settled = await change(store.store, claimed, {
    ...value,
    state: "delivered",
    settledAtMs: Date.now(),
  });
  assert(settled !== false);
  return settled;
}

Deno.test("a process that starts wakes the lanes in which others left something", async () => {
  using store = await TestStore.open();
  const { id } = await accepted(store);
  const process = new Process(store);
  await process.relayLanes.look();
  assert.deepEqual([process.woken, process.inMemory], [[id], [id]]);
});

Deno.test("an idle lane leaves memory and the index of active ones, and is still found by its id", async () => {
  using store = await TestStore.open();
  const one = await accepted(store);
  const process = new Process(store);
  await process.relayLanes.look();
  await delivered(store, one);
  await process.relayLanes.look();
  assert.deepEqual([process.inMemory, await activeLanes(store.store)], [[], []]);
  assert.equal((await process.lanes.find(one.id))?.endpoint.targetUrl, TARGET);
});

Deno.test("a lane stays in memory while something is due in it, and for a sweep after it was wanted", async () => {
  using store = await TestStore.open();
  const one = await accepted(store);
  const process = new Process(store);
  await process.relayLanes.look();
  await process.relayLanes.look();
  assert.deepEqual(process.inMemory, [one.id]);
  const lane = await process.lanes.find(one.id);
  lane!.wantedAtMs = store.store.clock.monotonicMs();
  await delivered(store, one);
  await process.relayLanes.look();
  assert.deepEqual(process.inMemory, [one.id]);
  process.aheadMs = 2 * LIMITS.sweepMs;
  await process.relayLanes.look();
  assert.deepEqual(process.inMemory, []);
});

Deno.test("a replay makes an idle lane active again", async () => {
  using store = await TestStore.open();
  const one = await accepted(store);
  const settled = await delivered(store, one);
  const process = new Process(store);
  await process.lanes.find(one.id);
  await process.relayLanes.look();
  assert.deepEqual(await activeLanes(store.store), []);
  assert(await change(store.store, settled, replayed(settled.value, Date.now())));
  await process.relayLanes.look();
  assert.deepEqual(process.woken, [one.id]);
});

Deno.test("a lane whose target is not allowed any more is not taken up", async () => {
  using store = await TestStore.open();
  await accepted(store);
  const process = new Process(store, { ...SETTINGS!, targets: [] });
  await process.relayLanes.look();
  assert.deepEqual([process.woken, process.inMemory], [[], []]);
});

Deno.test("a target is forgotten once its lane holds nothing at all", async () => {
  using store = await TestStore.open();
  const one = await accepted(store);
  const { value: { id } } = await delivered(store, one);
  const process = new Process(store);
  await process.lanes.find(one.id);
  await process.relayLanes.look();
  await dropTarget(store.store, one.id);
  assert.equal(await readTarget(store.store, one.id), TARGET);
  await store.store.kv.delete(["delivery", one.id, id]);
  for await (const { key } of store.store.kv.list({ prefix: ["stat"] })) {
    await store.store.kv.delete(key);
  }
  await dropTarget(store.store, one.id);
  assert.equal(await readTarget(store.store, one.id), undefined);
});
