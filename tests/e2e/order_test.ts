import assert from "node:assert/strict";
import { SILENCE } from "../helpers/answer.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { sideBySide } from "../helpers/group.ts";
import { reached } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { type SinkRequest, startSink } from "../helpers/sink.ts";
import { pause, until } from "../helpers/wait.ts";

const test = sideBySide("order and fairness");

/** Answers by body: `e1` fails twice, `e4` is refused, the rest is taken. */
function scripted({ text }: SinkRequest, seen: string[]) {
  seen.push(text);
  if (text === "e4") return { status: 400 };
  return { status: text === "e1" && seen.filter((one) => one === "e1").length <= 2 ? 500 : 200 };
}

test("an ordered lane settles its head before it tries the next", async () => {
  const seen: string[] = [];
  await using sink = startSink((request) => scripted(request, seen));
  const settings = { ordered: true, retry: { schedule: ["200ms", "200ms"] } };
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink, settings)] });
  const ids = [];
  for (const body of ["e1", "e2", "e3", "e4", "e5"]) {
    ids.push((await accept(relay, "demo", { body })).deliveryId);
  }
  await reached(relay, ids[4], "delivered");
  assert.deepEqual(seen, ["e1", "e1", "e1", "e2", "e3", "e4", "e5"]);
  const { reason, attemptCount } = await reached(relay, ids[3], "dead");
  assert.deepEqual([reason, attemptCount], ["rejected", 1]);
});

test("order holds over a kill -9 and over two processes", async () => {
  await using sink = startSink({ delayMs: 10 });
  const setup = { endpoints: [endpoint("demo", sink, { ordered: true })], env: { LEASE: "2s" } };
  await using one = await startRelay(setup);
  await using two = await startRelay({ ...setup, kvPath: one.kvPath });
  const sent: string[] = [];
  for (let n = 0; n < 40; n++) {
    if (n === 20) await one.kill("SIGKILL");
    const body = `e${n}`;
    // Ids of two processes are in order only from one millisecond to the next.
    await pause(2);
    await accept(n < 20 && n % 2 === 0 ? one : two, "demo", { body });
    sent.push(body);
  }
  await until(() => new Set(sink.bodies).size === 40, { what: "all events", withinMs: 40_000 });
  const once = sink.bodies.filter((body, index, all) => all[index - 1] !== body);
  assert.deepEqual(once, sent);
});

test("a target that hangs does not slow its neighbour down", async () => {
  await using slow = startSink(SILENCE);
  await using quick = startSink();
  await using relay = await startRelay({
    endpoints: [endpoint("slow", slow, { timeout: "60s" }), endpoint("quick", quick)],
  });
  await inParallel(300, 32, () => accept(relay, "slow"));
  await until(() => slow.requests.length === 50, { what: "the slow target's slots to fill" });
  await inParallel(50, 10, () => accept(relay, "quick"));
  await until(() => quick.requests.length === 50, { what: "the neighbour's events" });
  assert.equal(slow.requests.length, 50);
});

test("a lane's rate limit holds for its backlog", async () => {
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, { rateLimit: 20 })],
  });
  const startMs = performance.now();
  await inParallel(60, 20, () => accept(relay, "demo"));
  await until(() => sink.requests.length === 60, { what: "all events" });
  const spanMs = sink.requests[59].atMs - startMs;
  assert(spanMs >= 1_500, `60 attempts at 20 a second took ${spanMs} ms`);
});
