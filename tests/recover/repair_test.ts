import assert from "node:assert/strict";
import { test } from "../helpers/group.ts";
import { D, H, INTERVAL_MS, M, S, Scene, storeEvent } from "./harness.ts";

test("a new store takes the existing history as handled", async () => {
  await using scene = await Scene.start();
  await scene.github.deliver("fail", scene.clock.nowMs() - H);
  await scene.github.deliver("phantom", scene.clock.nowMs() - M);
  await scene.live(30 * M);
  assert.deepEqual(scene.github.redelivered, []);
  assert.deepEqual((await scene.view()).findings, []);
});

test("a row younger than the grace is left alone", async () => {
  await using scene = await Scene.start();
  scene.clock.move(INTERVAL_MS - M);
  const guid = await scene.github.deliver("fail");
  scene.clock.move(M);
  await scene.pass();
  assert.deepEqual(scene.github.redelivered, []);
  await scene.live(INTERVAL_MS);
  assert.deepEqual(scene.github.redelivered, [guid]);
});

test("an event that GitHub failed to deliver is asked for again and then is here", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  const guid = await scene.github.deliver("fail");
  await scene.live(INTERVAL_MS);
  assert.deepEqual((await scene.view()).findings.map(({ kind }) => kind), ["remote_failure"]);
  assert.deepEqual(scene.stored, [guid]);
  await scene.live(INTERVAL_MS);
  const { findings, row } = await scene.view();
  assert.deepEqual(findings, []);
  assert.equal(row.repaired, 1);
});

test("an acknowledged event that is not here is a phantom and is asked for again", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  const guid = await scene.github.deliver("phantom");
  await scene.live(INTERVAL_MS);
  assert.deepEqual((await scene.view()).findings.map(({ kind }) => kind), ["phantom_ack"]);
  assert.deepEqual(scene.stored, [guid]);
});

test("an event that another address acknowledged is not asked for", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  const { url } = scene.github.hook;
  scene.github.hook.url = "http://127.0.0.1:1/old-backend";
  await scene.github.deliver("phantom");
  scene.github.hook.url = url;
  await scene.live(2 * INTERVAL_MS);
  assert.deepEqual(scene.github.redelivered, []);
  assert.deepEqual((await scene.view()).findings, []);
});

test("a failed row whose event came by another try is not asked for", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  const came = await scene.github.deliver("fail");
  await storeEvent(scene.store, came);
  const missing = await scene.github.deliver("fail");
  await scene.live(3 * INTERVAL_MS);
  assert.deepEqual(scene.github.redelivered, [missing]);
});

test("an event counts as here although its delivery has died and gone", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  const guid = await scene.github.deliver("fail");
  await storeEvent(scene.store, guid);
  for await (const { key } of scene.store.kv.list({ prefix: ["delivery"] })) {
    await scene.store.kv.delete(key);
  }
  await scene.live(2 * INTERVAL_MS);
  assert.deepEqual(scene.github.redelivered, []);
});

test("redelivery is asked for at 0, 5 m, 15 m, 1 h and 6 h, then the finding stays open", async () => {
  await using scene = await Scene.start();
  scene.isReceiverDown = true;
  scene.clock.move(M);
  await scene.github.deliver("fail");
  const askedAtMs: number[] = [];
  for (let step = 0; step < 8 * 12; step++) {
    const before = scene.github.redeliveries.length;
    await scene.live(INTERVAL_MS);
    if (scene.github.redeliveries.length > before) askedAtMs.push(scene.clock.nowMs());
  }
  assert.deepEqual(askedAtMs.map((ms) => (ms - askedAtMs[0]) / M), [0, 5, 15, 60, 360]);
  const { findings } = await scene.view();
  assert.deepEqual(findings.map(({ open, tries }) => [open, tries]), [["exhausted", 5]]);
  const [condition] = await scene.conditions();
  assert.equal(condition.severity, "critical");
  assert.match(condition.detail, /not here/);
});

test("an open finding is over once its event comes by itself", async () => {
  await using scene = await Scene.start();
  scene.isReceiverDown = true;
  scene.clock.move(M);
  const guid = await scene.github.deliver("fail");
  await scene.live(8 * H, H);
  assert.equal((await scene.view()).findings[0].open, "exhausted");
  await storeEvent(scene.store, guid);
  await scene.live(INTERVAL_MS);
  assert.deepEqual(await scene.conditions(), []);
});

test("an operator's repair looks at once and gives all open findings a fresh round", async () => {
  await using scene = await Scene.start();
  scene.isReceiverDown = true;
  scene.clock.move(M);
  const guids = [];
  for (let n = 0; n < 45; n++) guids.push(await scene.github.deliver("fail"));
  await scene.live(16 * H, H);
  assert((await scene.view()).findings.every(({ open }) => open === "exhausted"));
  scene.isReceiverDown = false;
  await scene.watchdog.repairNow();
  await scene.pass();
  await scene.live(10 * S, 10 * S);
  assert.deepEqual(scene.stored.toSorted(), guids);
});

test("an acknowledged redelivery that is not stored here is no repair", async () => {
  await using scene = await Scene.start();
  scene.github.redeliveryFate = "phantom";
  scene.clock.move(M);
  await scene.github.deliver("fail");
  await scene.live(30 * M);
  const { findings, row } = await scene.view();
  assert.equal(row.repaired, 0);
  assert.deepEqual(findings.map(({ kind, tries }) => [kind, tries]), [["phantom_ack", 3]]);
});

test("an event older than three days cannot be repaired, and that is said", async () => {
  await using scene = await Scene.start();
  scene.isStoreHealthy = false;
  scene.clock.move(M);
  await scene.github.deliver("fail");
  await scene.live(3 * D + H, 6 * H);
  scene.isStoreHealthy = true;
  await scene.live(INTERVAL_MS);
  assert.deepEqual(scene.github.redelivered, []);
  assert.equal((await scene.view()).findings[0].open, "too_old");
  assert.match((await scene.conditions())[0].detail, /older than 3 days/);
});

test("an event that GitHub no longer has is left open as gone", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  await scene.github.deliver("fail");
  scene.github.fault = ({ method }) =>
    method === "POST" ? new Response("{}", { status: 404 }) : undefined;
  await scene.live(2 * INTERVAL_MS);
  assert.equal((await scene.view()).findings[0].open, "gone");
  assert.equal(scene.github.redeliveries.length, 1);
});

test("nothing is asked for while the own store is in trouble", async () => {
  await using scene = await Scene.start();
  scene.isStoreHealthy = false;
  scene.clock.move(M);
  const guid = await scene.github.deliver("fail");
  await scene.live(30 * M);
  assert.deepEqual(scene.github.redelivered, []);
  scene.isStoreHealthy = true;
  await scene.live(INTERVAL_MS);
  assert.deepEqual(scene.stored, [guid]);
});

test("a store restored from an old copy gets back what came after the copy", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  const guids = [];
  for (let n = 0; n < 20; n++) guids.push(await scene.github.deliver("send"));
  await scene.live(INTERVAL_MS);
  // The copy is what was stored before these events: their claims and this pass's row.
  for await (const { key } of scene.store.kv.list({ prefix: [] })) {
    if (key[0] !== "watch") await scene.store.kv.delete(key);
  }
  const { row } = await scene.view();
  const old = { ...row, progress: { ...row.progress, watermarkMs: row.progress.baselineMs } };
  await scene.store.kv.set(["watch", "gh"], old);
  scene.stored.length = 0;
  await scene.live(INTERVAL_MS);
  assert.deepEqual(scene.stored.toSorted(), guids);
});

test("two processes on one store do one pass between them", async () => {
  await using scene = await Scene.start();
  const other = scene.process("second");
  scene.clock.move(M);
  await scene.github.deliver("fail");
  scene.clock.move(INTERVAL_MS);
  const before = scene.github.pages.length;
  await Promise.all([scene.watchdog.look(), other.look()]);
  await scene.github.quiet();
  assert.equal(scene.github.pages.length, before + 1);
  assert.equal(scene.github.redeliveries.length, 1);
  await other.stop();
});

test("redeliveries are a second apart", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  for (let n = 0; n < 4; n++) await scene.github.deliver("fail");
  scene.clock.move(INTERVAL_MS);
  const startMs = scene.clock.nowMs();
  await scene.pass();
  assert.equal(scene.github.redeliveries.length, 4);
  assert.equal(scene.clock.nowMs() - startMs, 3 * S);
});

test("a pass asks for forty at most, and the next one goes on ten seconds later", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  for (let n = 0; n < 50; n++) await scene.github.deliver("fail");
  await scene.live(INTERVAL_MS);
  assert.equal(scene.github.redeliveries.length, 40);
  await scene.live(10 * S, 10 * S);
  assert.equal(scene.stored.length, 50);
});
