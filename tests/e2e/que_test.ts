import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { attemptsOf } from "../helpers/arrivals.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { test } from "../helpers/group.ts";
import { allDeliveries, reached, replay } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { type SinkRequest, startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

const secondTime = (request: SinkRequest) =>
  request.header("holdfast-attempt") === "1" ? { status: 500 } : {};

test("two processes on one store deliver each event once", async () => {
  await using sink = startSink();
  const endpoints = [endpoint("demo", sink)];
  await using one = await startRelay({ endpoints });
  await using two = await startRelay({ endpoints, kvPath: one.kvPath });
  const accepted = await inParallel(400, 20, (n) => accept(n % 2 === 0 ? one : two, "demo"));
  const ids = () => sink.requests.map((request) => request.header("holdfast-delivery-id"));
  await until(() => new Set(ids()).size === 400, { what: "all events", withinMs: 30_000 });
  await until(
    async () => (await allDeliveries(one, "")).every(({ state }) => state === "delivered"),
    { what: "all deliveries to be recorded" },
  );
  assert.equal(ids().length, 400);

  const [{ deliveryId }] = accepted;
  assert.equal(await replay(two, deliveryId), 202);
  await until(() => attemptsOf(sink, deliveryId).length === 2, { what: "the replay" });
});

for (const scheduler of ["auto", "sweep"]) {
  test(`retries that come due together all go out (${scheduler})`, async () => {
    await using sink = startSink(secondTime);
    const endpoints = Array.from(
      { length: 10 },
      (_, n) => endpoint(`lane${n}`, sink, { retry: { schedule: ["1s"] } }),
    );
    await using relay = await startRelay({ endpoints, env: { SCHEDULER: scheduler } });
    await inParallel(250, 50, (n) => accept(relay, `lane${n % 10}`));
    await until(() => sink.requests.length >= 500, {
      what: () => `all retries; ${sink.requests.length} requests came`,
      withinMs: 15_000,
    });
    await until(
      async () => (await allDeliveries(relay, "")).every(({ state }) => state === "delivered"),
      { what: "all deliveries to be recorded" },
    );
    assert.equal(sink.requests.length, 500);
  });
}

/** Deletes every message of the store's queue; returns how many there were. */
function emptyQueue(kvPath: string): number {
  const database = new DatabaseSync(kvPath);
  try {
    database.exec("PRAGMA busy_timeout = 5000");
    return Number(database.prepare("DELETE FROM queue").run().changes);
  } finally {
    database.close();
  }
}

test("a queue that never delivers a message costs no delivery", async () => {
  await using sink = startSink(secondTime);
  const demo = endpoint("demo", sink, { retry: { schedule: ["2s"] } });
  await using relay = await startRelay({ endpoints: [demo], env: { SCHEDULER: "queue" } });
  const accepted = await inParallel(10, 10, () => accept(relay, "demo"));
  await until(() => sink.requests.length === 10, { what: "the first attempts" });
  await until(() => emptyQueue(relay.kvPath) > 0, { what: "a queue message to lose" });
  for (const { deliveryId } of accepted) await reached(relay, deliveryId, "delivered", 70_000);
});

test("a backlog after a restart goes out within the lane's concurrency", async () => {
  await using sink = startSink({ delayMs: 10 }, { stops: true });
  const settings = { concurrency: 5, retry: { schedule: new Array(20).fill("1s") } };
  await sink.stop();
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, settings)],
    env: { LEASE: "1s" },
  });
  const accepted = await inParallel(500, 32, () => accept(relay, "demo"));
  await relay.kill("SIGKILL");
  sink.start();
  await relay.restart();
  await until(() => sink.requests.length >= 500, { what: "the backlog", withinMs: 40_000 });
  const arrived = new Set(sink.requests.map((r) => r.header("holdfast-delivery-id")));
  for (const { deliveryId } of accepted) assert(arrived.has(deliveryId));
  assert(sink.peak <= 5, `${sink.peak} requests at once`);
});
