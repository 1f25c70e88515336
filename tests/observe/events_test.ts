import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { group, test } from "../helpers/group.ts";
import { reached, replay, statusOf } from "../helpers/operator.ts";
import { accept, post } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { inTurn } from "../helpers/answer.ts";
import { startSink } from "../helpers/sink.ts";
import { until, within } from "../helpers/wait.ts";
import { Listener } from "./listener.ts";

group("live events of one process", async (behaviour) => {
  await using sink = startSink(inTurn(500, 200));
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  await using listener = await Listener.open(relay);
  const { deliveryId, eventId } = await accept(relay, "demo");
  await listener.settled(deliveryId);
  await until(() => listener.of("accepted")[0], { what: "the acceptance" });

  await behaviour("a delivery is told from its acceptance to its end", () => {
    const mine = listener.events.filter(({ data }) => data.deliveryId === deliveryId);
    const told = mine.map(({ type, data }) => [type, data.status, data.outcome ?? data.state])
      .sort();
    assert.deepEqual(told, [
      ["accepted", "accepted", undefined],
      ["attempt", 200, "delivered"],
      ["attempt", 500, "retry"],
      ["settled", undefined, "delivered"],
    ]);
    return Promise.resolve();
  });

  await behaviour("an event names its type, its time, its endpoint and its event id", () => {
    const [{ type, data }] = listener.of("accepted");
    assert.equal(data.type, type);
    assert.match(String(data.at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(data.endpoint, "demo");
    assert.equal(data.eventId, eventId);
    return Promise.resolve();
  });

  await behaviour("a pause by an operator is told as a change of the lane", async () => {
    assert.equal(await statusOf(relay.api("/endpoints/demo/pause", { method: "POST" })), 200);
    await listener.heard(
      ({ type, data }) => type === "lane" && data.endpoint === "demo" && data.change === "paused",
      "the pause",
    );
  });

  await behaviour("a refused request is not told", async () => {
    assert.equal((await post(relay, "nobody")).http, 404);
    const after = await accept(relay, "demo");
    await listener.heard(({ data }) => data.deliveryId === after.deliveryId, "the next acceptance");
    assert.deepEqual(listener.events.filter(({ data }) => data.endpoint !== "demo"), []);
  });

  await behaviour("without the token there is no stream", async () => {
    assert.equal(await statusOf(fetch(`${relay.origin}/api/v1/events`)), 401);
  });

  await behaviour("an unknown parameter is refused", async () => {
    assert.equal(await statusOf(relay.api("/events?endpiont=demo")), 400);
  });

  await behaviour("nobody between may keep or collect the stream", async () => {
    const abort = new AbortController();
    const { headers, body } = await relay.api("/events", { signal: abort.signal });
    assert.equal(headers.get("content-type"), "text/event-stream");
    assert.equal(headers.get("cache-control"), "no-store");
    await body?.cancel();
    abort.abort();
  });
});

test("a listener that comes back hears what it missed, once", async () => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  const before = await Listener.open(relay);
  const first = await accept(relay, "demo");
  await before.settled(first.deliveryId);
  await before[Symbol.asyncDispose]();
  const missed = [await accept(relay, "demo"), await accept(relay, "demo")];
  for (const { deliveryId } of missed) await reached(relay, deliveryId, "delivered");

  await using after = await Listener.open(relay, before.lastEventId);
  const last = await accept(relay, "demo");
  await after.settled(last.deliveryId);
  await until(() => after.of("accepted").length >= 3, { what: "three acceptances" });
  const accepted = after.of("accepted").map(({ data }) => data.deliveryId);
  assert.deepEqual(accepted, [...missed, last].map(({ deliveryId }) => deliveryId));
  assert.equal(after.of("settled").length, 3);
});

test("a listener of one process hears the others, and goes on at any of them", async () => {
  await using sink = startSink();
  const endpoints = [endpoint("demo", sink)];
  await using one = await startRelay({ endpoints });
  await using other = await startRelay({ endpoints, kvPath: one.kvPath });
  const listener = await Listener.open(one);
  const [here, there] = [await accept(one, "demo"), await accept(other, "demo")];
  await listener.settled(here.deliveryId);
  await listener.settled(there.deliveryId);
  await listener[Symbol.asyncDispose]();

  const missed = [await accept(one, "demo"), await accept(other, "demo")];
  for (const { deliveryId } of missed) await reached(one, deliveryId, "delivered");
  await using moved = await Listener.open(other, listener.lastEventId);
  for (const { deliveryId } of missed) await moved.settled(deliveryId);
  await until(() => moved.of("accepted").length >= 2, { what: "two acceptances" });
  const heard = moved.of("accepted").map(({ data }) => data.deliveryId).sort();
  assert.deepEqual(heard, missed.map(({ deliveryId }) => deliveryId).sort());
});

test("a relay that nobody watches writes no events down", async () => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  const { deliveryId } = await accept(relay, "demo");
  await reached(relay, deliveryId, "delivered");
  await relay.kill("SIGTERM");
  using kv = await Deno.openKv(relay.kvPath);
  const found = [];
  for (const name of ["feed", "head", "listeners"]) {
    for await (const { key } of kv.list({ prefix: ["watch", name] })) found.push(key);
  }
  assert.deepEqual(found, []);
});

test("a stop ends the streams within the grace", async () => {
  await using relay = await startRelay();
  await using listener = await Listener.open(relay);
  const exit = relay.kill("SIGTERM");
  await within(listener.ended, { what: "the end of the stream" });
  assert.equal(await exit, 0);
});

test("events hold no path, query, header, body or target", async () => {
  await using sink = startSink(inTurn(302, 200));
  const secret = /s3cr3t|tt9-token|k123-key|body-words|rest-of-path/;
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink.url("/services/s3cr3t?token=s3cr3t"), { showPayload: true })],
  });
  await using listener = await Listener.open(relay);
  const { deliveryId } = await accept(relay, "demo", {
    body: "body-words",
    rest: "/rest-of-path?access_token=tt9-token",
    headers: { "X-Api-Key": "k123-key" },
  });
  await listener.settled(deliveryId);
  assert.equal(await replay(relay, deliveryId), 202);
  await until(() => listener.of("settled").length === 2, { what: "the replay's end" });
  assert.doesNotMatch(listener.text, secret);
});
