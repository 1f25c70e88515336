import assert from "node:assert/strict";
import type { Answer } from "../helpers/answer.ts";
import { attemptsOf } from "../helpers/arrivals.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { type DeliveryView, page, reached, read, replay, statusOf } from "../helpers/operator.ts";
import { accept, post } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

group("replay", async (behaviour) => {
  let answer: Answer = {};
  await using sink = startSink(() => answer);
  await using ordinary = startSink();
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink), endpoint("ordinary", ordinary)],
  });
  const dead = async () => {
    answer = { status: 400 };
    const { deliveryId } = await accept(relay, "demo");
    return await reached(relay, deliveryId, "dead");
  };

  await behaviour("clicking twice replays once", async () => {
    const { id } = await dead();
    answer = { delayMs: 1_000 };
    const both = await Promise.all([replay(relay, id), replay(relay, id)]);
    assert.deepEqual(both.toSorted(), [202, 409]);
    await until(() => attemptsOf(sink, id).length === 2, { what: "the replayed attempt" });
    assert.equal(await replay(relay, id), 409);
    await reached(relay, id, "delivered");
    const marks = attemptsOf(sink, id).map((request) => request.header("holdfast-replay"));
    assert.deepEqual(marks, [undefined, "1"]);
  });

  await behaviour("a second replay is sent like the first, and the id stays known", async () => {
    const options = { body: "again", headers: { "x-request-id": "again" } };
    const { deliveryId } = await accept(relay, "ordinary", options);
    await reached(relay, deliveryId, "delivered");
    for (const times of [1, 2]) {
      assert.equal(await replay(relay, deliveryId), 202);
      await until(() => attemptsOf(ordinary, deliveryId).length === times + 1, {
        what: `replay ${times}`,
      });
      await reached(relay, deliveryId, "delivered");
    }
    const sent = attemptsOf(ordinary, deliveryId);
    assert.deepEqual(sent.map((r) => r.header("holdfast-replay")), [undefined, "1", "2"]);
    assert.deepEqual(sent.map((r) => r.header("holdfast-event-id")), ["again", "again", "again"]);
    assert.deepEqual(sent.map((r) => r.text), ["again", "again", "again"]);
    assert.equal((await post(relay, "ordinary", options)).status, "duplicate");
  });

  await behaviour("a replay that fails anew has a fresh budget, reason and place", async () => {
    const first = await dead();
    assert.equal(first.reason, "rejected");
    answer = { status: 500 };
    assert.equal(await replay(relay, first.id), 202);
    const again = await reached(relay, first.id, "dead");
    assert.equal(again.reason, "exhausted");
    assert.deepEqual(again.attempts.map(({ status }) => status), [400, 500, 500, 500]);
    const letters = await read<{ items: DeliveryView[] }>(relay, "/dead-letters/demo");
    const mine = letters.items.filter(({ id }) => id === first.id);
    assert.deepEqual(mine.map(({ reason }) => reason), ["exhausted"]);
    const listed = await page(relay, "endpoint=demo&state=dead&reason=rejected");
    assert(!listed.items.some(({ id }) => id === first.id));
  });

  await behaviour("a dead letter is replayed at the root route as well", async () => {
    const { id } = await dead();
    answer = {};
    const path = `/dead-letters/demo/${id}/replay`;
    assert.equal(await statusOf(fetch(relay.origin + path, { method: "POST" })), 401);
    assert.equal(await statusOf(relay.asOperator(path, { method: "POST" })), 202);
    await reached(relay, id, "delivered");
  });

  await behaviour("replaying or showing what does not exist is a 404", async () => {
    const unknown = "01HZZZZZZZZZZZZZZZZZZZZZZZ";
    assert.equal(await replay(relay, unknown), 404);
    assert.equal(await statusOf(relay.api(`/deliveries/${unknown}`)), 404);
    assert.equal(await statusOf(relay.api("/dead-letters/nope")), 404);
  });

  await behaviour("a pending delivery can be cancelled and then replayed", async () => {
    answer = { status: 503, headers: ["Retry-After: 600"] };
    const { deliveryId } = await accept(relay, "demo");
    await until(() => attemptsOf(sink, deliveryId).length === 1, { what: "the attempt" });
    await reached(relay, deliveryId, "pending");
    const cancel = relay.api(`/deliveries/${deliveryId}/cancel`, { method: "POST" });
    assert((await statusOf(cancel)) < 300);
    assert.equal((await reached(relay, deliveryId, "dead")).reason, "cancelled");
    answer = {};
    assert.equal(await replay(relay, deliveryId), 202);
    await reached(relay, deliveryId, "delivered");
  });
});
