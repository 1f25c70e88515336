import assert from "node:assert/strict";
import { inTurn } from "../helpers/answer.ts";
import { arrival } from "../helpers/arrivals.ts";
import { hmacHex } from "../helpers/bytes.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group, test } from "../helpers/group.ts";
import { delivery, reached } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept, post, type PostOptions } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { pause } from "../helpers/wait.ts";

const SECRET = "k3y";
const GUID = "11111111-1111-1111-1111-111111111111";

group("event identity", async (behaviour) => {
  await using sink = startSink();
  await using github = startSink();
  await using refusing = startSink(inTurn(400, 200));
  await using relay = await startRelay({
    endpoints: [
      endpoint("demo", sink),
      endpoint("header", sink, { idHeaders: ["x-event-id"] }),
      endpoint("path", sink, { idPath: "id" }),
      endpoint("brief", sink, { dedupWindow: "1s" }),
      endpoint("off", sink, { dedup: "off" }),
      endpoint("id-only", sink, { dedup: "id" }),
      endpoint("hub-a", github, { provider: "github", secret: SECRET }),
      endpoint("hub-b", github, { provider: "github", secret: SECRET }),
      endpoint("revive", refusing, { provider: "github", secret: SECRET }),
    ],
  });
  const arrivals = (eventId: string) =>
    sink.requests.filter((request) => request.header("holdfast-event-id") === eventId).length;

  /** Sends the posts one after the other and compares what each was taken for. */
  const taken = async (id: string, posts: PostOptions[], expected: string[]) => {
    const statuses = [];
    for (const options of posts) statuses.push((await post(relay, id, options)).status);
    assert.deepEqual(statuses, expected);
  };

  await behaviour("fifty identical posts at once are one delivery", async () => {
    const options = { body: "same", headers: { "x-request-id": "r1" } };
    const answers = await inParallel(50, 50, () => post(relay, "demo", options));
    assert.equal(answers.filter(({ status }) => status === "accepted").length, 1);
    assert.equal(answers.filter(({ status }) => status === "duplicate").length, 49);
    assert.equal(new Set(answers.map(({ deliveryId }) => deliveryId)).size, 1);
    await reached(relay, answers[0].deliveryId, "delivered");
    assert.equal(arrivals("r1"), 1);
  });

  await behaviour("a blank id is no id", () =>
    taken("header", [
      { body: `{"n":1}`, headers: { "X-Event-Id": "" } },
      { body: `{"n":2}`, headers: { "X-Event-Id": "   " } },
      { body: `{"n":3}` },
    ], ["accepted", "accepted", "accepted"]));

  await behaviour(
    "without an id the same request is a duplicate, another path is not",
    () =>
      taken("demo", [
        { body: "hash" },
        { body: "hash" },
        { body: "hash", rest: "/a" },
        { body: "hash", rest: "?a" },
        { body: "hash", method: "PUT" },
      ], ["accepted", "duplicate", "accepted", "accepted", "accepted"]),
  );

  await behaviour("with dedup off every request is an event", () =>
    taken("off", [
      { body: "x", headers: { "x-request-id": "o" } },
      { body: "x", headers: { "x-request-id": "o" } },
    ], ["accepted", "accepted"]));

  await behaviour(
    "with dedup by id only, equal bodies without an id are two events",
    () =>
      taken("id-only", [
        { body: "x" },
        { body: "x" },
        { body: "x", headers: { "x-request-id": "i" } },
        { body: "y", headers: { "x-request-id": "i" } },
      ], ["accepted", "accepted", "accepted", "duplicate"]),
  );

  await behaviour(
    "numbers beyond a double's precision are different ids, shown as typed",
    async () => {
      for (const id of ["9007199254740993", "9007199254740992"]) {
        const { deliveryId, eventId } = await accept(relay, "path", { body: `{"id":${id}}` });
        assert.equal(eventId, id);
        assert.equal((await delivery(relay, deliveryId)).eventId, id);
      }
    },
  );

  await behaviour("ids longer than a store key stay distinct", () => {
    const id = (text: string) => ({ headers: { "x-request-id": text } });
    const long = "a".repeat(2_100);
    return taken(
      "demo",
      [id(long), id(long), id(long + "b")],
      ["accepted", "duplicate", "accepted"],
    );
  });

  await behaviour("ids of many emoji stay distinct", () => {
    const body = (count: number) => ({ body: `{"id":"${"😀".repeat(count)}"}` });
    return taken(
      "path",
      [body(900), body(900), body(901)],
      ["accepted", "duplicate", "accepted"],
    );
  });

  await behaviour("a repeat after the window is a new event", async () => {
    const options = { body: "b", headers: { "x-request-id": "w" } };
    const first = await accept(relay, "brief", options);
    assert.equal((await post(relay, "brief", options)).status, "duplicate");
    await pause(1_100);
    assert.notEqual((await accept(relay, "brief", options)).deliveryId, first.deliveryId);
  });

  const hub = (id: string, requestId = "p") => {
    const body = `{"zen":"${id}"}`;
    const headers = {
      "X-GitHub-Delivery": id,
      "X-GitHub-Event": "push",
      "X-Hub-Signature-256": `sha256=${hmacHex(SECRET, body)}`,
      "X-Request-Id": requestId,
    };
    return { body, headers };
  };

  await behaviour("the same id on two endpoints is two events", async () => {
    const a = await accept(relay, "hub-a", hub(GUID));
    const b = await accept(relay, "hub-b", hub(GUID));
    await arrival(github, a);
    await arrival(github, b);
    assert.equal((await post(relay, "hub-a", hub(GUID))).deliveryId, a.deliveryId);
    assert.equal((await post(relay, "hub-b", hub(GUID))).deliveryId, b.deliveryId);
  });

  await behaviour(
    "the sender's id counts more than a proxy's request id",
    () => taken("hub-a", [hub("g-2", "p1"), hub("g-2", "p2")], ["accepted", "duplicate"]),
  );

  await behaviour("a resend revives a dead delivery once", async () => {
    const { deliveryId } = await accept(relay, "revive", hub("g1"));
    assert.equal((await reached(relay, deliveryId, "dead")).reason, "rejected");
    const second = await post(relay, "revive", hub("g1"));
    assert.deepEqual([second.status, second.deliveryId], ["revived", deliveryId]);
    const { attempts } = await reached(relay, deliveryId, "delivered");
    assert.deepEqual(attempts.map(({ n, status }) => [n, status]), [[1, 400], [2, 200]]);
    assert.equal((await post(relay, "revive", hub("g1"))).status, "duplicate");
    assert.equal(refusing.requests.length, 2);
  });
});

test("fifty identical posts over two processes on one store are one delivery", async () => {
  await using sink = startSink();
  const endpoints = [endpoint("demo", sink)];
  await using one = await startRelay({ endpoints });
  await using two = await startRelay({ endpoints, kvPath: one.kvPath });
  const answers = await inParallel(
    50,
    50,
    (n) =>
      post(n % 2 === 0 ? one : two, "demo", { body: "same", headers: { "x-request-id": "r1" } }),
  );
  assert.equal(answers.filter(({ status }) => status === "accepted").length, 1);
  assert.equal(answers.filter(({ status }) => status === "duplicate").length, 49);
  await reached(one, answers[0].deliveryId, "delivered");
  assert.equal(sink.requests.length, 1);
});
