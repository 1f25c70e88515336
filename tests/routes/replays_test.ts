import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { group, test } from "../helpers/group.ts";
import { allDeliveries, delivery, reached, read, replay, statusOf } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept } from "../helpers/post.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { type SinkRequest, startSink } from "../helpers/sink.ts";
import { pause, until } from "../helpers/wait.ts";
import { contractOf, endpointView, type JobView } from "./contract.ts";

const start = (relay: Relay, filter: object): Promise<JobView> =>
  read(relay, "/replays", { method: "POST", body: JSON.stringify(filter) });

const job = (relay: Relay, id: string): Promise<JobView> => read(relay, `/replays/${id}`);

/** Waits until the job has ended and returns it. */
function ended(relay: Relay, id: string, withinMs = 30_000): Promise<JobView> {
  let last: JobView | undefined;
  return until(async () => {
    last = await job(relay, id);
    return last.state === "running" ? undefined : last;
  }, { withinMs, what: () => `the job to end; it is ${JSON.stringify(last)}` });
}

/** Accepts `count` deliveries that die at once. */
async function dead(relay: Relay, id: string, count: number): Promise<string[]> {
  const accepted = await inParallel(count, 32, () => accept(relay, id));
  await until(async () => (await endpointView(relay, id)).counts.dead >= count, {
    what: "all to be dead",
    withinMs: 60_000,
  });
  return accepted.map(({ deliveryId }) => deliveryId);
}

const replaysAt = (requests: readonly SinkRequest[]) =>
  requests.filter((request) => request.header("holdfast-replay") !== undefined);

group("replay jobs", async (behaviour) => {
  let status = 400;
  await using sink = startSink(() => ({ status }));
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink), endpoint("other", sink), endpoint("empty", sink)],
  });
  const contract = await contractOf(relay);
  const path = "/api/v1/replays";
  const ask = (filter: object) => contract.ask<JobView>(relay, "post", path, path, filter);
  const ids = await dead(relay, "demo", 5);
  const [twice] = await dead(relay, "other", 1);
  status = 200;
  await replay(relay, twice);
  await reached(relay, twice, "delivered");
  status = 400;
  await replay(relay, twice);
  await reached(relay, twice, "dead");

  await behaviour("say in a dry run what they would do, and do nothing", async () => {
    const { status, body } = await contract.ask<{
      count: number;
      oldest: string;
      newest: string;
      alreadyDelivered: number;
    }>(relay, "post", path, path, { state: "dead", dryRun: true });
    assert.equal(status, 200);
    assert.deepEqual([body.count, body.alreadyDelivered], [6, 1]);
    const times = await Promise.all(
      [...ids, twice].map(async (id) => (await delivery(relay, id)).acceptedAt),
    );
    assert.deepEqual([body.oldest, body.newest], [times.toSorted()[0], times.toSorted().at(-1)]);
    assert.deepEqual((await read<{ items: JobView[] }>(relay, "/replays")).items, []);
  });

  await behaviour("take what fits the filter and nothing else", async () => {
    status = 200;
    const middle = (await delivery(relay, ids.toSorted()[2])).acceptedAt;
    for (const filter of [{ reason: "exhausted" }, { until: "2020-01-01T00:00:00Z" }]) {
      const { body } = await ask({ endpoint: "demo", ...filter });
      assert.deepEqual([body.total, (await ended(relay, body.id)).done], [0, 0]);
    }
    const { status: http, body } = await ask({
      endpoint: "demo",
      reason: "rejected",
      since: middle,
    });
    assert.equal(http, 202);
    const { state, total, done, skipped } = await ended(relay, body.id);
    const fitting = (await allDeliveries(relay, "endpoint=demo"))
      .filter(({ acceptedAt }) => acceptedAt >= middle);
    assert.deepEqual([state, total, done, skipped], ["done", fitting.length, fitting.length, 0]);
    for (const { id } of fitting) assert.equal((await reached(relay, id, "delivered")).replays, 1);
    assert.equal((await delivery(relay, twice)).replays, 2);
  });

  await behaviour("replay delivered ones when these are asked for", async () => {
    const before = (await allDeliveries(relay, "endpoint=demo&state=delivered")).length;
    const { body } = await ask({ endpoint: "demo", state: "delivered" });
    assert.equal((await ended(relay, body.id)).done, before);
  });

  await behaviour("with nothing to do are done at once", async () => {
    const { body } = await ask({ endpoint: "empty" });
    assert.deepEqual(await ended(relay, body.id).then(({ state, total }) => [state, total]), [
      "done",
      0,
    ]);
  });

  await behaviour("are listed, newest first, and shown as the document says", async () => {
    const { body } = await contract.ask<{ items: JobView[] }>(relay, "get", path, path);
    const listed = body.items.map(({ id }) => id);
    assert.deepEqual(listed, listed.toSorted().toReversed());
    const one = await contract.ask<JobView>(relay, "get", `${path}/{id}`, `${path}/${listed[0]}`);
    assert.deepEqual(one.body, body.items[0]);
    const late = await contract.ask(
      relay,
      "post",
      `${path}/{id}/cancel`,
      `${path}/${listed[0]}/cancel`,
    );
    assert.equal(late.status, 409);
  });
});

test("a job waits for a paused endpoint, goes on with the others, and can be cancelled", async () => {
  let status = 400;
  await using sink = startSink(() => ({ status }));
  await using relay = await startRelay({
    endpoints: [endpoint("held", sink), endpoint("open", sink)],
  });
  await dead(relay, "held", 20);
  await dead(relay, "open", 20);
  status = 200;
  await read(relay, "/endpoints/held/pause", { method: "POST" });
  const { id, total } = await start(relay, { state: "dead" });
  assert.equal(total, 40);
  await until(async () => (await endpointView(relay, "open")).counts.dead === 0, {
    what: "the open endpoint's to go out",
  });
  const { counts } = await endpointView(relay, "held");
  assert(counts.pending <= 1, `${counts.pending} wait`);
  const cancelled = await read<JobView>(relay, `/replays/${id}/cancel`, { method: "POST" });
  assert.equal(cancelled.state, "cancelled");
  const { dead: left } = (await endpointView(relay, "held")).counts;
  await read(relay, "/endpoints/held/resume", { method: "POST" });
  await until(async () => (await endpointView(relay, "held")).counts.pending === 0, {
    what: "what was replayed to go out",
  });
  await pause(300);
  assert.equal((await endpointView(relay, "held")).counts.dead, left);
  assert.deepEqual(await job(relay, id), cancelled);
  assert.equal(await statusOf(relay.api(`/replays/${id}/cancel`, { method: "POST" })), 409);
});

test("an event that comes during a job does not wait for its end", async () => {
  let status = 400;
  await using sink = startSink(() => ({ status }));
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink, { rateLimit: 20 })] });
  await dead(relay, "demo", 60);
  status = 200;
  const { id } = await start(relay, { endpoint: "demo" });
  await until(() => replaysAt(sink.requests).length >= 5, { what: "the job to begin" });
  const { deliveryId } = await accept(relay, "demo");
  const { done } = await ended(relay, id);
  assert.equal(done, 60);
  await until(() => replaysAt(sink.requests).length === 60, { what: "all at the target" });
  const order = sink.requests.map((request) => request.header("holdfast-delivery-id"));
  const behind = order.slice(order.indexOf(deliveryId)).length;
  assert(behind > 30, `only ${behind} of 60 went out after it`);
  const [first, ...others] = sink.requests.slice(60);
  const spanMs = others[others.length - 1].atMs - first.atMs;
  assert(spanMs >= 2_000, `61 attempts at 20 a second took ${spanMs} ms`);
  assert.equal((await endpointView(relay, "demo")).breaker.state, "closed");
});

test("a delivery that dies again during a job is not replayed by it once more", async () => {
  await using sink = startSink({ status: 400 });
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  const ids = await dead(relay, "demo", 100);
  const { id } = await start(relay, { endpoint: "demo" });
  const { done, skipped } = await ended(relay, id);
  assert.deepEqual([done, skipped], [100, 0]);
  for (const one of ids) assert.equal((await reached(relay, one, "dead")).replays, 1);
});

test("a job goes on in another process when its own is killed", async () => {
  let status = 400;
  await using sink = startSink(() => ({ status }));
  // What the victim had in flight is in the job's way for a lease.
  const setup = { endpoints: [endpoint("demo", sink)], env: { LEASE: "5s" } };
  await using survivor = await startRelay(setup);
  await using victim = await startRelay({ ...setup, kvPath: survivor.kvPath });
  await dead(victim, "demo", 300);
  status = 200;
  const { id } = await start(victim, { endpoint: "demo" });
  await until(async () => (await job(survivor, id)).done >= 50, { what: "the job to begin" });
  await victim.kill("SIGKILL");
  const { state, done } = await ended(survivor, id, 120_000);
  assert.deepEqual([state, done], ["done", 300]);
});

test("a replay of 5,000 is finished after kill -9, each sent once", async () => {
  const MANY = 5_000;
  let status = 400;
  await using sink = startSink(() => ({ status }));
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink)],
    env: { LEASE: "5s" },
  });
  const ids = await dead(relay, "demo", MANY);
  status = 200;
  const { id, total } = await start(relay, { endpoint: "demo" });
  assert.equal(total, MANY);
  await until(async () => (await job(relay, id)).done >= 1_000, {
    what: "a part of the job",
    withinMs: 60_000,
  });
  await relay.kill("SIGKILL");
  const atKill = replaysAt(sink.requests).length;
  assert(atKill < MANY);
  await relay.restart();
  const finished = await ended(relay, id, 120_000);
  assert.deepEqual([finished.state, finished.done, finished.skipped], ["done", MANY, 0]);
  await until(async () => (await endpointView(relay, "demo")).counts.pending === 0, {
    what: "the last ones to go out",
    withinMs: 60_000,
  });
  const all = await until(async () => {
    const found = await allDeliveries(relay, "endpoint=demo&limit=500");
    return found.every(({ state }) => state === "delivered") ? found : undefined;
  }, { what: "all to be delivered", withinMs: 60_000 });
  assert.deepEqual(all.map((one) => one.id), ids.toSorted().toReversed());
  assert(all.every(({ replays }) => replays === 1));
  const sent = replaysAt(sink.requests).map((request) => request.header("holdfast-delivery-id"));
  assert.equal(new Set(sent).size, MANY);
  assert(replaysAt(sink.requests).every((request) => request.header("holdfast-replay") === "1"));
  // Only what was in flight at the kill may have arrived twice: as many as run at once.
  assert(sent.length <= MANY + 50, `${sent.length} requests for ${MANY} deliveries`);
});
