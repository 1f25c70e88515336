import assert from "node:assert/strict";
import { type Answer, SILENCE } from "../helpers/answer.ts";
import { gapsMs } from "../helpers/arrivals.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { sideBySide } from "../helpers/group.ts";
import { allDeliveries, reached } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept } from "../helpers/post.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { pause, until } from "../helpers/wait.ts";

const test = sideBySide("outages");

/** Two clocks and whole milliseconds lie between the relay's decision and the sink's record. */
const CLOCK_SLACK_MS = 10;

/** A process looks again at a lane that another one changed after a second. */
const OTHERS_LEARN_MS = 1_200;

const breaker = (openMs: number) => ({ failures: 3, open: openMs, cap: openMs });

/** Three events that fail open the breaker; returns their deliveries' ids. */
async function openBreaker(relay: Relay): Promise<string[]> {
  const accepted = await inParallel(3, 3, () => accept(relay, "demo"));
  await until(async () => {
    const all = await allDeliveries(relay, "endpoint=demo");
    return all.reduce((sum, { attemptCount }) => sum + attemptCount, 0) >= 3;
  }, { what: "three failed attempts to be recorded" });
  return accepted.map(({ deliveryId }) => deliveryId);
}

test("while a target is down two processes send one probe in each open interval", async () => {
  await using sink = startSink({ status: 503 });
  const openMs = 1_500;
  const settings = { breaker: breaker(openMs), retry: { schedule: new Array(50).fill("50ms") } };
  const endpoints = [endpoint("demo", sink, settings)];
  await using one = await startRelay({ endpoints });
  await using two = await startRelay({ endpoints, kvPath: one.kvPath });
  await openBreaker(one);
  await pause(OTHERS_LEARN_MS);
  const before = sink.requests.length;
  await inParallel(30, 30, (n) => accept(n % 2 === 0 ? one : two, "demo"));
  await until(() => sink.requests.length >= before + 4, { what: "four probes" });
  const gaps = gapsMs(sink.requests.slice(before));
  for (const gap of gaps) assert(gap >= openMs - CLOCK_SLACK_MS, `probes ${gaps} ms apart`);
});

test("a probe that died with its process is followed by another", async () => {
  let answer: Answer = { status: 503 };
  await using sink = startSink(() => answer);
  const settings = { breaker: breaker(500), retry: { schedule: new Array(50).fill("100ms") } };
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, settings)],
    env: { LEASE: "2s" },
  });
  const ids = await openBreaker(relay);
  answer = SILENCE;
  const before = sink.requests.length;
  await until(() => sink.requests.length > before, { what: "the probe that hangs" });
  await relay.kill("SIGKILL");
  answer = {};
  await relay.restart();
  for (const id of ids) await reached(relay, id, "delivered", 75_000);
});

test("an outage costs no attempts and kills nothing", async () => {
  await using sink = startSink({}, { stops: true });
  await sink.stop();
  const settings = { breaker: breaker(300), retry: { schedule: new Array(4).fill("100ms") } };
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink, settings)] });
  await openBreaker(relay);
  await inParallel(17, 17, () => accept(relay, "demo"));
  await pause(3_000);
  sink.start();
  await until(() => sink.requests.length >= 20, { what: "all twenty after the outage" });
  for (const { id } of await allDeliveries(relay, "")) await reached(relay, id, "delivered");
  assert.equal(sink.requests.length, 20);
});

test("a short outage ends within seconds although the breaker is open for minutes", async () => {
  await using sink = startSink({}, { stops: true });
  await sink.stop();
  const settings = { breaker: breaker(300_000), retry: { schedule: new Array(3).fill("10m") } };
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink, settings)] });
  await openBreaker(relay);
  await inParallel(497, 32, () => accept(relay, "demo"));
  assert.equal(sink.requests.length, 0);
  sink.start();
  await until(() => sink.requests.length >= 500, { what: "all 500 after the outage" });
  await pause(300);
  assert.equal(sink.requests.length, 500);
});

test("a lane that was told to wait waits as a whole, and the attempt costs nothing", async () => {
  await using sink = startSink((_request, index) =>
    index === 0 ? { status: 429, headers: ["Retry-After: 2"] } : {}
  );
  const settings = { breaker: breaker(300), concurrency: 1, retry: { schedule: [] } };
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink, settings)] });
  await inParallel(10, 10, () => accept(relay, "demo"));
  await until(() => sink.requests.length >= 11, { what: "the limited one and all ten" });
  const [first] = gapsMs(sink.requests);
  assert(first >= 2_000 - CLOCK_SLACK_MS, `asked again after ${first} ms`);
  const all = await allDeliveries(relay, "");
  for (const { id } of all) await reached(relay, id, "delivered");
  const outcomes = all.flatMap(({ attempts }) => attempts.map(({ outcome }) => outcome));
  assert.equal(outcomes.filter((outcome) => outcome === "refunded").length, 1);
});

test("a refusal shows that the target is back and frees all the others", async () => {
  let up = false;
  let refused: string | undefined;
  await using sink = startSink((request) => {
    if (!up) return { status: 503 };
    refused ??= request.header("holdfast-delivery-id");
    return { status: request.header("holdfast-delivery-id") === refused ? 404 : 200 };
  });
  const settings = { breaker: breaker(500), retry: { schedule: new Array(50).fill("10m") } };
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink, settings)] });
  await openBreaker(relay);
  await inParallel(10, 10, () => accept(relay, "demo"));
  up = true;
  const settled = async () => {
    const all = await allDeliveries(relay, "");
    return all.every(({ state }) => state === "delivered" || state === "dead") ? all : undefined;
  };
  const all = await until(settled, { what: "all to settle" });
  const dead = all.filter(({ state }) => state === "dead");
  assert.deepEqual(dead.map(({ id, reason }) => [id, reason]), [[refused, "rejected"]]);
});

test("an event that alone fails dies by its own schedule and holds up nobody", async () => {
  await using sink = startSink((request) => ({ status: request.text === "poison" ? 500 : 200 }));
  const settings = { breaker: breaker(1_000), retry: { schedule: new Array(4).fill("100ms") } };
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink, settings)] });
  const { deliveryId } = await accept(relay, "demo", { body: "poison" });
  for (let n = 0; n < 10; n++) {
    await reached(relay, (await accept(relay, "demo")).deliveryId, "delivered");
  }
  const { reason, attemptCount } = await reached(relay, deliveryId, "dead");
  assert.deepEqual([reason, attemptCount], ["exhausted", 5]);
});
