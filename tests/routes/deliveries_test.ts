import assert from "node:assert/strict";
import { random, sha256 } from "../helpers/bytes.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { type DeliveryView, page, reached, read, replay } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import { contractOf } from "./contract.ts";

const MIB = 1024 * 1024;

group("deliveries", async (behaviour) => {
  let status = 200;
  await using sink = startSink(() => ({ status }));
  await using relay = await startRelay({
    endpoints: [
      endpoint("shown", sink, { showPayload: true }),
      endpoint("hidden", sink, { retry: { schedule: ["10m"] } }),
    ],
  });
  const contract = await contractOf(relay);
  const options = { rest: "/sub?access_token=t0ken&t0ken-alone", headers: { "x-key": "t0ken" } };

  await behaviour("are listed and shown as the document says", async () => {
    const { deliveryId } = await accept(relay, "hidden", options);
    await reached(relay, deliveryId, "delivered");
    await contract.ask(relay, "get", "/api/v1/deliveries", "/api/v1/deliveries?limit=10");
    const path = "/api/v1/deliveries/{id}";
    const url = `/api/v1/deliveries/${deliveryId}`;
    const { body } = await contract.ask<DeliveryView & { path: string }>(relay, "get", path, url);
    assert.equal(body.path, "/sub");
    assert.deepEqual(body.attempts.map(({ n, status, outcome }) => [n, status, outcome]), [
      [1, 200, "delivered"],
    ]);
  });

  await behaviour("hide what the sender wrote unless payloads may be seen", async () => {
    const { deliveryId } = await accept(relay, "hidden", { ...options, body: "t0ken" });
    for (const url of [`/deliveries/${deliveryId}`, "/deliveries?endpoint=hidden"]) {
      const text = JSON.stringify(await read(relay, url));
      assert.doesNotMatch(text, /t0ken|x-key/);
      assert.match(text, /access_token=\*\*\*&\*\*\*/);
    }
  });

  await behaviour("show query and header lines where payloads may be seen", async () => {
    const { deliveryId } = await accept(relay, "shown", options);
    const path = "/api/v1/deliveries/{id}";
    const url = `/api/v1/deliveries/${deliveryId}`;
    const { body } = await contract.ask<{ query: string; headers: [string, string][] }>(
      relay,
      "get",
      path,
      url,
    );
    assert.equal(body.query, "access_token=t0ken&t0ken-alone");
    assert(body.headers.some(([name, value]) => name === "x-key" && value === "t0ken"));
  });

  await behaviour("a payload comes back whole, however large", async () => {
    const bytes = random(24 * MIB);
    const { deliveryId } = await accept(relay, "shown", { body: bytes });
    await reached(relay, deliveryId, "delivered");
    const response = await relay.api(`/deliveries/${deliveryId}/payload`);
    assert.equal(response.headers.get("content-length"), String(bytes.length));
    assert.equal(sha256(new Uint8Array(await response.arrayBuffer())), sha256(bytes));
  });

  await behaviour("a payload is nothing a browser would show or run", async () => {
    const body = "<script>alert(1)</script>";
    const headers = { "content-type": "text/html" };
    const { deliveryId } = await accept(relay, "shown", { body, headers });
    const response = await relay.api(`/deliveries/${deliveryId}/payload`);
    assert.equal(await response.text(), body);
    assert.equal(response.headers.get("content-type"), "application/octet-stream");
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.match(response.headers.get("content-disposition") ?? "", /^attachment/);
    assert.match(response.headers.get("content-security-policy") ?? "", /^sandbox/);
  });

  await behaviour("an empty payload is an empty answer", async () => {
    const { deliveryId } = await accept(relay, "shown", { body: "" });
    const response = await relay.api(`/deliveries/${deliveryId}/payload`);
    assert.deepEqual([response.status, await response.text()], [200, ""]);
  });

  await behaviour("a hidden payload is a 403 as the document says", async () => {
    const { deliveryId } = await accept(relay, "hidden");
    const path = "/api/v1/deliveries/{id}/payload";
    const url = `/api/v1/deliveries/${deliveryId}/payload`;
    const { status, body } = await contract.ask<{ code: string }>(relay, "get", path, url);
    assert.deepEqual([status, body.code], [403, "payload_hidden"]);
  });

  await behaviour("are replayed and cancelled as the document says", async () => {
    status = 500;
    const { deliveryId } = await accept(relay, "hidden");
    const pending = await until(async () => {
      const found = await read<DeliveryView>(relay, `/deliveries/${deliveryId}`);
      return found.state === "pending" && found.attemptCount === 1 ? found : undefined;
    }, { what: "the delivery to wait" });
    assert(pending.dueAt !== undefined);
    const url = `/api/v1/deliveries/${deliveryId}`;
    const path = "/api/v1/deliveries/{id}";
    const early = await contract.ask(relay, "post", `${path}/replay`, `${url}/replay`);
    assert.equal(early.status, 409);
    const cancelled = await contract.ask<DeliveryView>(
      relay,
      "post",
      `${path}/cancel`,
      `${url}/cancel`,
    );
    assert.deepEqual([cancelled.status, cancelled.body.reason], [200, "cancelled"]);
    const again = await contract.ask(relay, "post", `${path}/cancel`, `${url}/cancel`);
    assert.equal(again.status, 409);
    status = 200;
    const replayed = await contract.ask<DeliveryView>(
      relay,
      "post",
      `${path}/replay`,
      `${url}/replay`,
    );
    assert.deepEqual([replayed.status, replayed.body.state], [202, "pending"]);
    await reached(relay, deliveryId, "delivered");
  });

  await behaviour("an event id finds its delivery, with the other filters", async () => {
    const headers = { "x-request-id": "find-me" };
    const { deliveryId } = await accept(relay, "hidden", { headers });
    await reached(relay, deliveryId, "delivered");
    const idsOf = async (query: string) => (await page(relay, query)).items.map(({ id }) => id);
    assert.deepEqual(await idsOf("event_id=find-me"), [deliveryId]);
    assert.deepEqual(await idsOf("event_id=find-me&state=dead"), []);
    assert.deepEqual(await idsOf("event_id=find-me&endpoint=shown"), []);
    assert.deepEqual(await idsOf("event_id=find-me&until=2020-01-01"), []);
    assert.deepEqual(await idsOf("event_id=unheard-of"), []);
  });

  await behaviour("dead letters are the same at both addresses", async () => {
    status = 400;
    const { deliveryId } = await accept(relay, "shown");
    await reached(relay, deliveryId, "dead");
    for (const root of ["/api/v1", ""]) {
      const path = `${root}/dead-letters/{endpoint}`;
      const url = `${root}/dead-letters/shown?reason=rejected&limit=5`;
      const { body } = await contract.ask<{ items: DeliveryView[] }>(relay, "get", path, url);
      assert.deepEqual(body.items.map(({ id }) => id), [deliveryId]);
    }
    const elsewhere = relay.api(`/dead-letters/hidden/${deliveryId}/replay`, { method: "POST" });
    assert.equal((await (await elsewhere).json()).code, "unknown_delivery");
    status = 200;
    assert.equal(await replay(relay, deliveryId), 202);
    await reached(relay, deliveryId, "delivered");
  });
});
