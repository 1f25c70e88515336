import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { attemptsOf } from "../helpers/arrivals.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group, sideBySide } from "../helpers/group.ts";
import { allDeliveries, delivery, reached, replay, statusOf } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept, post, tryPost } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { RawSocket } from "../helpers/raw.ts";
import { startSink } from "../helpers/sink.ts";
import { pause, until } from "../helpers/wait.ts";

const test = sideBySide("stopping and configuration changes");

group("health routes", async (behaviour) => {
  await using relay = await startRelay();
  for (const path of ["/", "/healthz", "/readyz"]) {
    await behaviour(`${path} answers 200 to anybody`, async () => {
      assert.equal(await statusOf(fetch(relay.origin + path)), 200);
    });
  }
  await behaviour("/ says that it lives and nothing else", async () => {
    assert.deepEqual(await (await fetch(relay.origin)).json(), { status: "ok" });
  });
});

/** Keeps the store's write lock, as a stuck second process would. */
function lockStore(kvPath: string): Disposable {
  const database = new DatabaseSync(kvPath);
  database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
  return {
    [Symbol.dispose]: () => {
      database.exec("ROLLBACK");
      database.close();
    },
  };
}

test("while the store takes no write nothing is answered 2xx, and it recovers by itself", async () => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  const options = { body: "q", headers: { "x-request-id": "q1" } };
  {
    using _lock = lockStore(relay.kvPath);
    const refused = await post(relay, "demo", options);
    assert.deepEqual([refused.http, refused.code], [503, "store_unavailable"]);
    assert.equal(refused.response.header("retry-after"), "5");
    assert.equal(await statusOf(fetch(`${relay.origin}/healthz`)), 200);
    assert.equal(sink.requests.length, 0);
  }
  const { status, deliveryId } = await until(async () => {
    const again = await post(relay, "demo", options);
    return again.http < 300 ? again : undefined;
  }, { what: "the store to take the event", withinMs: 20_000 });
  assert.equal(status, "accepted");
  await reached(relay, deliveryId, "delivered");
  assert.equal(sink.requests.length, 1);
  assert.equal(await statusOf(fetch(`${relay.origin}/readyz`)), 200);
});

test("SIGTERM lets a running attempt finish, takes nothing new and ends with code 0", async () => {
  await using sink = startSink({ delayMs: 1_500 });
  await using failing = startSink({ status: 500 });
  const later = endpoint("later", failing, { retry: { schedule: ["10s"] } });
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink), later] });
  const running = await accept(relay, "demo");
  const waiting = await accept(relay, "later");
  await until(() => sink.requests.length === 1 && failing.requests.length === 1, {
    what: "the first attempts",
  });
  await reached(relay, waiting.deliveryId, "pending");
  const asked = performance.now();
  relay.signal("SIGTERM");
  await pause(100);
  const late = await tryPost(relay, "demo");
  assert(late === undefined || late.http === 503, `answered ${late?.http}`);
  assert.equal(await relay.exit, 0);
  assert(performance.now() - asked < 8_000, "the stop took longer than its grace");
  await relay.restart();
  assert.equal((await delivery(relay, running.deliveryId)).state, "delivered");
  assert.equal((await delivery(relay, waiting.deliveryId)).attemptCount, 1);
  assert.equal(attemptsOf(sink, running.deliveryId).length, 1);
});

test("a body that is still arriving at SIGTERM is not accepted, and its id stays free", async () => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  {
    using socket = await RawSocket.connect(relay.port);
    await socket.send(
      "POST /hook/demo HTTP/1.1\r\nHost: h\r\nx-request-id: t1\r\nContent-Length: 10\r\n\r\n12345",
    );
    await pause(200);
    relay.signal("SIGTERM");
    await pause(200);
    await socket.trySend("67890");
    const response = await socket.response();
    assert([undefined, 503].includes(response?.status), `answered ${response?.status}`);
    assert.equal(await relay.exit, 0);
  }
  await relay.restart();
  const options = { body: "1234567890", headers: { "x-request-id": "t1" } };
  const { deliveryId } = await accept(relay, "demo", options);
  await reached(relay, deliveryId, "delivered");
  assert.deepEqual(sink.bodies, ["1234567890"]);
});

test("deliveries of an endpoint that left the configuration wait for its return", async () => {
  await using sink = startSink({}, { stops: true });
  await sink.stop();
  const demo = endpoint("demo", sink, { retry: { schedule: new Array(50).fill("200ms") } });
  await using relay = await startRelay({ endpoints: [demo] });
  const ids = [];
  for (let n = 0; n < 5; n++) ids.push((await accept(relay, "demo")).deliveryId);
  await relay.kill("SIGTERM");
  sink.start();
  await relay.restart({ endpoints: [endpoint("other", sink)] });
  assert.equal((await post(relay, "demo")).http, 404);
  for (const id of ids) assert.notEqual((await delivery(relay, id)).state, "dead");
  assert.equal(sink.requests.length, 0);
  await relay.restart({ endpoints: [demo] });
  for (const id of ids) await reached(relay, id, "delivered");
  assert.equal(sink.requests.length, 5);
});

test("a changed target gets the waiting deliveries at once", async () => {
  await using old = startSink({}, { stops: true });
  await using fresh = startSink();
  await old.stop();
  const settings = {
    retry: { schedule: new Array(20).fill("200ms") },
    breaker: { failures: 3, open: "300s", cap: "300s" },
  };
  await using relay = await startRelay({ endpoints: [endpoint("demo", old, settings)] });
  await inParallel(5, 5, () => accept(relay, "demo"));
  await until(async () => {
    const all = await allDeliveries(relay, "endpoint=demo");
    return all.reduce((sum, { attemptCount }) => sum + attemptCount, 0) >= 3;
  }, { what: "the attempts that open the breaker" });
  await relay.kill("SIGTERM");
  old.start();
  await relay.restart({ endpoints: [endpoint("demo", fresh, settings)] });
  await until(() => fresh.requests.length === 5, { what: "all five at the new target" });
  for (const { id } of await allDeliveries(relay, "endpoint=demo")) {
    await reached(relay, id, "delivered");
    assert.equal(await replay(relay, id), 202);
  }
  await until(() => fresh.requests.length === 10, { what: "the replays at the new target" });
  assert.equal(old.requests.length, 0);
});
