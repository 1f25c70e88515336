import assert from "node:assert/strict";
import { arrival } from "../helpers/arrivals.ts";
import { latin1, random, sha256 } from "../helpers/bytes.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { allDeliveries } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept, post, requestBytes, tryPost } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { exchange, RawSocket } from "../helpers/raw.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

const MIB = 1024 * 1024;

/** Far below the 192 MiB that are sent, above what waits for the garbage collector. */
const MEMORY_SLACK = 120 * MIB;
const SENT_CHUNKS = 192;

group("accepting", async (behaviour) => {
  await using sink = startSink();
  await using limited = startSink();
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink), endpoint("limited", limited, { maxBodyBytes: MIB })],
  });
  const head = (id: string, ...lines: string[]) =>
    [`POST /hook/${id} HTTP/1.1`, "Host: h", ...lines, "", ""].join("\r\n");

  await behaviour("half a body is not an event and claims no id", async () => {
    {
      using socket = await RawSocket.connect(relay.port);
      await socket.send(head("demo", "x-request-id: half", "Content-Length: 10") + "12345");
    }
    const whole = await accept(relay, "demo", {
      body: "1234567890",
      headers: { "x-request-id": "half" },
    });
    assert.equal((await arrival(sink, whole)).text, "1234567890");
    assert.equal(sink.requests.length, 1);
  });

  await behaviour("a body of exactly the limit is taken whole", async () => {
    const body = random(MIB);
    const accepted = await accept(relay, "limited", { body });
    assert.equal(sha256((await arrival(limited, accepted)).body), sha256(body));
  });

  const chunk = random(MIB);
  const chunked = [latin1("100000\r\n"), chunk, latin1("\r\n")];
  const oversized: [what: string, request: () => (string | Uint8Array)[]][] = [
    ["one byte above the limit", () => [
      requestBytes(relay.port, "/hook/limited", { body: random(MIB + 1) }),
    ]],
    ["a huge announced length", () => [
      head("limited", `Content-Length: ${SENT_CHUNKS * MIB}`),
      ...new Array<Uint8Array>(SENT_CHUNKS).fill(chunk),
    ]],
    ["endless chunks without a length", () => [
      head("limited", "Transfer-Encoding: chunked"),
      ...new Array(SENT_CHUNKS).fill(chunked).flat(),
      "0\r\n\r\n",
    ]],
  ];
  for (const [what, request] of oversized) {
    await behaviour(`${what} is answered 413 in bounded memory`, async () => {
      const stored = (await allDeliveries(relay, "endpoint=limited")).length;
      const rssBytes = relay.rssBytes();
      const response = await exchange(relay.port, request(), { withinMs: 20_000 });
      assert.equal(response?.status, 413);
      assert.equal(response?.json.code, "payload_too_large");
      const grown = relay.rssBytes() - rssBytes;
      assert(grown < MEMORY_SLACK, `memory grew by ${grown} bytes`);
      assert.equal((await allDeliveries(relay, "endpoint=limited")).length, stored);
    });
  }

  for (const method of ["HEAD", "GET", "OPTIONS", "TRACE", "PURGE"]) {
    await behaviour(`${method} is answered 405 with the methods that are allowed`, async () => {
      const stored = (await allDeliveries(relay, "endpoint=demo")).length;
      const response = await exchange(
        relay.port,
        `${method} /hook/demo HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`,
        { bodyless: method === "HEAD" },
      );
      assert.equal(response?.status, 405);
      assert.equal(response?.header("allow"), "POST, PUT, PATCH, DELETE");
      assert.equal((await allDeliveries(relay, "endpoint=demo")).length, stored);
    });
  }

  await behaviour("OPTIONS * is no route and does no harm", async () => {
    const response = await exchange(relay.port, "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n");
    assert([400, 404, 405].includes(response?.status ?? 400), `answered ${response?.status}`);
    assert.equal((await post(relay, "demo")).http, 202);
  });

  for (const method of ["PUT", "PATCH", "DELETE"]) {
    await behaviour(`${method} is accepted and delivered as ${method}`, async () => {
      const request = await arrival(sink, await accept(relay, "demo", { method }));
      assert(request.line.startsWith(`${method} /in `), request.line);
    });
  }

  await behaviour("an answer names the delivery in its body and in its headers", async () => {
    const { response, deliveryId, eventId } = await accept(relay, "demo", {
      headers: { "x-request-id": "named" },
    });
    assert.equal(eventId, "named");
    assert.match(deliveryId, /^[0-9A-HJKMNP-TV-Z]{26}$/);
    assert.equal(response.header("holdfast-status"), "accepted");
    assert.equal(response.header("holdfast-delivery-id"), deliveryId);
    assert.equal(response.header("holdfast-event-id"), "named");
  });

  await behaviour(
    "senders that leave before the answer get each event delivered once",
    async () => {
      const count = 100;
      const options = Array.from({ length: count }, (_, n) => ({
        body: random(300_000),
        headers: { "x-request-id": `gone-${n}` },
      }));
      await inParallel(count, 10, async (n) => {
        using socket = await RawSocket.connect(relay.port);
        await socket.send(requestBytes(relay.port, "/hook/demo", options[n]));
      });
      const answers = await inParallel(count, 10, (n) => tryPost(relay, "demo", options[n]));
      for (const answer of answers) {
        assert.match(String(answer?.status), /^(accepted|duplicate)$/, answer?.response.text);
      }
      const arrived = () =>
        sink.requests.flatMap((r) =>
          r.values("x-request-id").filter((id) => id.startsWith("gone-"))
        );
      await until(() => arrived().length >= count, { what: "all events", withinMs: 30_000 });
      assert.equal(new Set(arrived()).size, count);
      assert.equal(arrived().length, count);
    },
  );
});
