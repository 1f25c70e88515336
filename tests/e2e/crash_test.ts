import assert from "node:assert/strict";
import { SILENCE } from "../helpers/answer.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { test } from "../helpers/group.ts";
import { allDeliveries, reached } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept, post, type PostAnswer, tryPost } from "../helpers/post.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { type Sink, startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

const POSTS = 500;
const LEASE = { LEASE: "2s" };

/** Posts 500 events, signals the relay once 200 are answered, and returns the answers. */
async function postAndInterrupt(
  relay: Relay,
  signal: "SIGKILL" | "SIGTERM",
): Promise<PostAnswer[]> {
  let answered = 0;
  const answers = await inParallel(POSTS, 32, async (n) => {
    const answer = await tryPost(relay, "demo", { headers: { "x-request-id": `e${n}` } });
    answered += 1;
    if (answered === 200) relay.signal(signal);
    return answer;
  });
  return answers.filter((answer) => answer !== undefined);
}

/** Every accepted event reaches the target, and every stored delivery ends delivered. */
async function nothingIsMissing(relay: Relay, sink: Sink, answers: PostAnswer[]): Promise<void> {
  const accepted = answers.filter(({ status }) => status === "accepted");
  assert(accepted.length >= 100, `only ${accepted.length} were accepted before the end`);
  const arrived = () => new Set(sink.requests.map((r) => r.header("holdfast-delivery-id")));
  const missing = () => accepted.filter(({ deliveryId }) => !arrived().has(deliveryId));
  await until(() => missing().length === 0, {
    what: () => `${missing().length} of ${accepted.length} accepted events`,
    withinMs: 30_000,
  });
  await until(
    async () => (await allDeliveries(relay, "")).every(({ state }) => state === "delivered"),
    { what: "all deliveries to be recorded as delivered", withinMs: 30_000 },
  );
}

test("nothing that was accepted before a kill -9 is missing after the restart", async () => {
  await using sink = startSink({ delayMs: 20 });
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)], env: LEASE });
  const answers = await postAndInterrupt(relay, "SIGKILL");
  await relay.restart();
  await nothingIsMissing(relay, sink, answers);
});

test("nothing that was accepted before a SIGTERM is missing, and the exit is clean", async () => {
  await using sink = startSink({ delayMs: 20 });
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)], env: LEASE });
  const answers = await postAndInterrupt(relay, "SIGTERM");
  assert.equal(await relay.exit, 0);
  for (const { http } of answers) assert([202, 503].includes(http), `answered ${http}`);
  await relay.restart();
  await nothingIsMissing(relay, sink, answers);
});

test("an overlapping restart on one store loses nothing", async () => {
  await using sink = startSink({ delayMs: 20 });
  const endpoints = [endpoint("demo", sink)];
  await using old = await startRelay({ endpoints, env: LEASE });
  await using fresh = await startRelay({ endpoints, env: LEASE, kvPath: old.kvPath });
  const [answersOfOld, answersOfNew] = await Promise.all([
    postAndInterrupt(old, "SIGTERM"),
    inParallel(200, 8, (n) => post(fresh, "demo", { headers: { "x-request-id": `new-${n}` } })),
  ]);
  assert.equal(await old.exit, 0);
  for (const { http } of answersOfNew) assert.equal(http, 202);
  await nothingIsMissing(fresh, sink, [...answersOfOld, ...answersOfNew]);
});

test("an attempt that died with its process is made again once the lease has run out", async () => {
  await using sink = startSink(SILENCE);
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)], env: LEASE });
  const { deliveryId } = await accept(relay, "demo");
  await until(() => sink.requests.length === 1, { what: "the first attempt" });
  await relay.kill("SIGKILL");
  sink.script = {};
  await relay.restart();
  await reached(relay, deliveryId, "delivered");
  const numbers = sink.requests.map((request) => request.header("holdfast-attempt"));
  assert.deepEqual(numbers, ["1", "2"]);
});

test("a long attempt is not taken over while its process lives", async () => {
  await using sink = startSink({ delayMs: 5_000 });
  const setup = { endpoints: [endpoint("demo", sink, { timeout: "20s" })], env: LEASE };
  await using one = await startRelay(setup);
  await using _two = await startRelay({ ...setup, kvPath: one.kvPath });
  const { deliveryId } = await accept(one, "demo");
  assert.equal((await reached(one, deliveryId, "delivered")).attemptCount, 1);
  assert.equal(sink.requests.length, 1);
});
