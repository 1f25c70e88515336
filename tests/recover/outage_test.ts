import assert from "node:assert/strict";
import { test } from "../helpers/group.ts";
import { H, INTERVAL_MS, M, S, Scene, storeEvent } from "./harness.ts";

/** An answer of GitHub's, with the clock's time in it where a header needs one. */
const answer = (status: number, headers: Record<string, string> = {}, message = "") => () =>
  new Response(JSON.stringify({ message }), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

test("a history of several pages is followed down to the last pass and no further", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  const missing = [];
  for (let n = 0; n < 350; n++) {
    const isMissing = n < 10;
    const guid = await scene.github.deliver(isMissing ? "fail" : "phantom");
    if (isMissing) missing.push(guid);
    else await storeEvent(scene.store, guid);
  }
  scene.clock.move(INTERVAL_MS);
  const before = scene.github.pages.length;
  await scene.pass();
  assert.equal(scene.github.pages.length - before, 4);
  assert.deepEqual(scene.github.redelivered, missing);
  scene.clock.move(INTERVAL_MS);
  await scene.pass();
  assert.equal(scene.github.pages.length - before, 5);
  assert.equal(scene.github.redeliveries.length, 10);
});

test("a pass reads five pages at most and the next one goes on at their end", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  for (let n = 0; n < 800; n++) {
    const guid = await scene.github.deliver("phantom");
    if (n !== 0) await storeEvent(scene.store, guid);
  }
  scene.clock.move(INTERVAL_MS);
  const before = scene.github.pages.length;
  await scene.pass();
  assert.equal(scene.github.pages.length - before, 5);
  assert.equal(scene.github.redeliveries.length, 0);
  await scene.live(10 * S, 10 * S);
  assert.equal(scene.github.pages.length - before, 8);
  assert.equal(scene.github.redeliveries.length, 1);
});

test("what fails while GitHub is down for an hour is repaired when it is back", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  const guids = [await scene.github.deliver("fail")];
  scene.github.fault = answer(503);
  const before = scene.github.calls.length;
  for (let minute = 0; minute < 60; minute += 5) {
    await scene.live(INTERVAL_MS);
    if (minute === 30) guids.push(await scene.github.deliver("fail"));
  }
  assert(scene.github.calls.length - before <= 13, "GitHub is not asked more than once a pass");
  const [condition] = await scene.conditions();
  assert.match(condition.detail, /answers with errors/);
  scene.github.fault = () => undefined;
  await scene.live(H);
  assert.deepEqual(scene.stored.toSorted(), guids);
  assert.deepEqual(await scene.conditions(), []);
});

test("a GitHub that does not answer at all opens the breaker after three passes", async () => {
  await using scene = await Scene.start();
  await scene.github[Symbol.asyncDispose]();
  await scene.live(2 * INTERVAL_MS);
  assert.equal((await scene.view()).row.breaker.phase, "closed");
  await scene.live(INTERVAL_MS);
  assert.equal((await scene.view()).row.breaker.phase, "open");
  assert.match((await scene.conditions())[0].detail, /no answer/);
});

const RATE_LIMITS: [
  name: string,
  status: number,
  headers: (nowS: number) => {
    [name: string]: string;
  },
  message: string,
  waitMs: number,
][] = [
  ["429 with retry-after", 429, () => ({ "retry-after": "5" }), "", 5 * S],
  ["403 with retry-after", 403, () => ({ "retry-after": "5" }), "", 5 * S],
  [
    "403 with no requests remaining",
    403,
    (nowS) => ({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(nowS + 5) }),
    "",
    5 * S,
  ],
  ["403 that speaks of a secondary rate limit", 403, () => ({}), "secondary rate limit", M],
  ["a wait of a day, which is cut", 429, () => ({ "retry-after": "86400" }), "", H],
];

for (const [name, status, headers, message, waitMs] of RATE_LIMITS) {
  test(`a rate limit is waited for and told as one: ${name}`, async () => {
    await using scene = await Scene.start();
    scene.clock.move(INTERVAL_MS);
    await scene.github.deliver("fail", scene.clock.nowMs() - 3 * M);
    scene.github.fault = answer(status, headers(scene.clock.nowMs() / S), message);
    const before = scene.github.calls.length;
    await scene.pass();
    const { row } = await scene.view();
    assert.equal(row.breaker.openUntilMs, scene.clock.nowMs() + waitMs);
    assert.match((await scene.conditions())[0].detail, /rate limit/);
    scene.github.fault = () => undefined;
    // Two seconds short: a look that is due in one would ring, and move the clock.
    await scene.live(waitMs - 2 * S, waitMs - 2 * S);
    await scene.watchdog.repairNow();
    await scene.pass();
    assert.equal(scene.github.calls.length, before + 1, "nothing is asked before its time");
    await scene.live(10 * S, 10 * S);
    assert.equal(scene.stored.length, 1);
    assert.deepEqual(await scene.conditions(), []);
  });
}

test("a plain 403 is a missing permission, told as such, and holds nothing back", async () => {
  await using scene = await Scene.start();
  scene.github.fault = answer(403, {}, "Resource not accessible by integration");
  await scene.live(INTERVAL_MS);
  const [condition] = await scene.conditions();
  assert.equal(condition.severity, "critical");
  assert.match(condition.detail, /permission/);
  assert.equal((await scene.view()).row.breaker.phase, "closed");
});

test("a hook that was deleted is told, and 404 does not open the breaker", async () => {
  await using scene = await Scene.start();
  scene.github.fault = answer(404, {}, "Not Found");
  await scene.live(6 * INTERVAL_MS);
  const [condition] = await scene.conditions();
  assert.match(condition.detail, /no such hook/);
  assert.equal(condition.count, 6);
  assert.equal((await scene.view()).row.breaker.phase, "closed");
});

test("a token that GitHub refuses is told without being shown", async () => {
  await using scene = await Scene.start({ credentials: { token: "ghp_s3cr3t" } });
  const [condition] = await scene.conditions();
  assert.match(condition.detail, /refuses the App's key or the token \(status 401\)/);
  assert(!JSON.stringify([scene.logged, await scene.conditions()]).includes("s3cr3t"));
});

test("a rate limit in the middle of the pages costs no row: the next pass goes on", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  const oldest = await scene.github.deliver("fail");
  for (let n = 0; n < 350; n++) {
    await storeEvent(scene.store, await scene.github.deliver("phantom"));
  }
  scene.clock.move(INTERVAL_MS);
  const { row: { progress: { watermarkMs } } } = await scene.view();
  const before = scene.github.pages.length;
  scene.github.fault = ({ path }) =>
    scene.github.pages.length - before === 3 && path.includes("cursor")
      ? answer(429, { "retry-after": "30" })()
      : undefined;
  await scene.pass();
  assert.equal((await scene.view()).row.progress.watermarkMs, watermarkMs);
  assert.deepEqual(scene.github.redelivered, []);
  await scene.live(30 * S, 30 * S);
  assert.deepEqual(scene.stored, [oldest]);
  const asked = scene.github.pages.slice(before).map(({ path }) => path);
  assert.equal(asked[2], asked[3], "the page that failed is the one that is asked for again");
  assert.equal(asked.length, 5);
});

test("a redelivery that GitHub's limit refuses is no try and ends the pass's repairs", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  for (let n = 0; n < 5; n++) await scene.github.deliver("fail");
  scene.github.fault = ({ method }) =>
    method === "POST" ? answer(403, { "retry-after": "20" })() : undefined;
  await scene.live(INTERVAL_MS);
  assert.equal(scene.github.redeliveries.length, 1);
  assert.deepEqual((await scene.view()).findings.map(({ tries }) => tries), [0, 0, 0, 0, 0]);
  scene.github.fault = () => undefined;
  await scene.live(30 * S, 30 * S);
  assert.equal(scene.stored.length, 5);
});

test("a crash in the middle of the pages leaves the watermark where it was", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  const oldest = await scene.github.deliver("fail");
  for (let n = 0; n < 250; n++) {
    await storeEvent(scene.store, await scene.github.deliver("phantom"));
  }
  scene.clock.move(INTERVAL_MS);
  const reached = Promise.withResolvers<void>();
  const hanging = Promise.withResolvers<void>();
  const before = scene.github.pages.length;
  scene.github.delay = () => {
    if (scene.github.pages.length - before !== 2) return undefined;
    reached.resolve();
    return hanging.promise;
  };
  const dead = scene.watchdog;
  const dying = dead.look();
  await reached.promise;
  // The process is gone: its lease stays in the store and runs out.
  scene.watchdog = scene.process("successor");
  scene.clock.move(INTERVAL_MS);
  scene.github.delay = () => undefined;
  await scene.pass();
  assert.deepEqual(scene.stored, [oldest]);
  hanging.resolve();
  await dying;
  await dead.stop();
  assert.deepEqual(scene.github.redelivered, [oldest], "the late process changes nothing");
});

test("a cursor that GitHub takes no more starts the scan anew", async () => {
  await using scene = await Scene.start();
  scene.clock.move(M);
  const oldest = await scene.github.deliver("fail");
  for (let n = 0; n < 150; n++) {
    await storeEvent(scene.store, await scene.github.deliver("phantom"));
  }
  scene.clock.move(INTERVAL_MS);
  scene.github.fault = ({ path }) => path.includes("cursor") ? answer(422)() : undefined;
  await scene.pass();
  scene.github.fault = () => undefined;
  await scene.live(INTERVAL_MS);
  assert.deepEqual(scene.stored, [oldest]);
});

test("an answer that is no history is trouble, not the end of the history", async () => {
  await using scene = await Scene.start();
  const { row: { progress } } = await scene.view();
  scene.github.fault = () =>
    new Response("<html>maintenance</html>", { headers: { "content-type": "text/html" } });
  await scene.live(INTERVAL_MS);
  assert.equal((await scene.view()).row.progress.watermarkMs, progress.watermarkMs);
  assert.match((await scene.conditions())[0].detail, /not understood/);
});

test("a clock that differs from GitHub's by an hour misses nothing", async () => {
  await using scene = await Scene.start();
  scene.github.nowMs = () => scene.clock.nowMs() - H;
  await scene.live(INTERVAL_MS);
  const guid = await scene.github.deliver("fail");
  await scene.live(2 * INTERVAL_MS);
  assert.deepEqual(scene.stored, [guid]);
});
