import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { group, test } from "../helpers/group.ts";
import { reached, read } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { freePort } from "../helpers/ports.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import { type ConditionView, contractOf, type StatusView } from "./contract.ts";

const status = (relay: Relay): Promise<StatusView> => read(relay, "/status");

const condition = async (relay: Relay, type: string): Promise<ConditionView> =>
  await until(async () => (await status(relay)).conditions.find((one) => one.type === type), {
    what: `the condition ${type}`,
  });

group("the status", async (behaviour) => {
  await using rejecting = startSink({ status: 400 });
  await using relay = await startRelay({
    endpoints: [
      endpoint("rejected", rejecting),
      endpoint("down", `http://127.0.0.1:${freePort()}/in`, {
        breaker: { failures: 3, open: "5m", cap: "5m" },
        retry: { schedule: ["10m"] },
      }),
      endpoint("failing", `http://127.0.0.1:${freePort()}/in`, {
        retry: { schedule: new Array(9).fill("20ms") },
      }),
      endpoint("held", rejecting),
    ],
    env: { SCHEDULER: "sweep" },
  });

  await behaviour("of a quiet relay is as the document says, with no conditions", async () => {
    const contract = await contractOf(relay);
    const path = "/api/v1/status";
    const { body } = await contract.ask<StatusView>(relay, "get", path, path);
    assert.deepEqual(body.conditions, []);
    assert.equal(body.lanes.length, 4);
  });

  await behaviour("names dead letters with their number and age", async () => {
    const before = Date.now();
    const { deliveryId } = await accept(relay, "rejected");
    await reached(relay, deliveryId, "dead");
    const { subject, count, since, severity } = await condition(relay, "dead_letters");
    assert.deepEqual([subject, count, severity], ["rejected", 1, "warning"]);
    assert(Date.parse(since) >= before - 1_000);
  });

  await behaviour("names an open breaker with what waits", async () => {
    for (let n = 0; n < 4; n++) await accept(relay, "down");
    const { subject, detail } = await condition(relay, "breaker_open");
    assert.deepEqual([subject, detail], ["down", "no connection to the target"]);
    const { count } = (await status(relay)).conditions.find(({ type }) => type === "breaker_open")!;
    assert.equal(count, 4);
  });

  await behaviour("names a failing endpoint", async () => {
    await accept(relay, "failing");
    const { subject } = await condition(relay, "endpoint_failing");
    assert.equal(subject, "failing");
  });

  await behaviour("names paused and disabled endpoints", async () => {
    await read(relay, "/endpoints/held/pause", { method: "POST" });
    await read(relay, "/endpoints/rejected/disable", { method: "POST" });
    await accept(relay, "held");
    const paused = await condition(relay, "endpoint_paused");
    assert.deepEqual([paused.subject, paused.count], ["held", 1]);
    assert.equal((await condition(relay, "endpoint_disabled")).subject, "rejected");
  });

  await behaviour("adds up what all endpoints hold", async () => {
    const { counts, lanes, oldestPendingAt } = await status(relay);
    for (const name of ["pending", "inFlight", "dead"] as const) {
      const sum = lanes.reduce((total, lane) => total + lane.counts[name], 0);
      assert.equal(counts[name], sum);
    }
    assert(counts.pending >= 5);
    assert(oldestPendingAt !== undefined);
  });

  await behaviour("has nothing but its own words about targets and senders", async () => {
    assert.doesNotMatch(JSON.stringify(await status(relay)), /\/in|127\.0\.0\.1/);
  });
});

test("the status is the same from any process", async () => {
  await using sink = startSink({ status: 400 });
  const endpoints = [endpoint("demo", sink)];
  await using first = await startRelay({ endpoints });
  await using second = await startRelay({ endpoints, kvPath: first.kvPath });
  for (const relay of [first, second, first]) {
    await reached(relay, (await accept(relay, "demo")).deliveryId, "dead");
  }
  for (const relay of [first, second]) {
    const { counts } = await status(relay);
    assert.deepEqual([counts.dead, counts.lastHour.accepted, counts.lastHour.dead], [3, 3, 3]);
  }
});
