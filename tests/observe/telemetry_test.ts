import assert from "node:assert/strict";
import { parseTraceparent } from "../../lib/observe/telemetry/traceparent.ts";
import { inTurn } from "../helpers/answer.ts";
import { arrival, attemptsOf } from "../helpers/arrivals.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { reached } from "../helpers/operator.ts";
import { accept, post } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import { Collector } from "./collector.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SENDER_SPAN = "b7ad6b7169203331";
const FROM_SENDER = { traceparent: `00-${TRACE}-${SENDER_SPAN}-01`, tracestate: "vendor=opaque" };
const SPAN_KIND = { server: 2, client: 3 };
const ERROR = 2;

group("a relay with telemetry", async (behaviour) => {
  await using collector = new Collector();
  await using sink = startSink(inTurn(500, 200));
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink.url("/services/s3cr3t-path?token=s3cr3t-query"))],
    env: collector.env,
  });
  const sent = await accept(relay, "demo", {
    headers: { ...FROM_SENDER, "X-Api-Key": "k123-key" },
    body: "body-words",
    rest: "?access_token=tt9-token",
  });
  await reached(relay, sent.deliveryId, "delivered");
  const spans = (name: string, count: number) =>
    until(() => {
      const found = collector.of(name, sent.deliveryId);
      return found.length >= count ? found : undefined;
    }, { what: `${count} spans named ${name}`, withinMs: 20_000 });
  const [accepted] = await spans("accept", 1);
  const attempts = await spans("attempt", 2);

  await behaviour("the acceptance continues the sender's trace", () => {
    assert.deepEqual(
      [accepted.traceId, accepted.parentSpanId, accepted.kind],
      [TRACE, SENDER_SPAN, SPAN_KIND.server],
    );
    assert.equal(accepted.attributes["holdfast.endpoint"], "demo");
    assert.equal(accepted.attributes["holdfast.status"], "accepted");
    return Promise.resolve();
  });

  await behaviour("every attempt is a child of the acceptance, also after a wait", () => {
    for (const attempt of attempts) {
      assert.deepEqual(
        [attempt.traceId, attempt.parentSpanId, attempt.kind],
        [TRACE, accepted.spanId, SPAN_KIND.client],
      );
    }
    const outcomes = attempts.map(({ attributes, status }) => [
      attributes["holdfast.attempt"],
      attributes["http.response.status_code"],
      status?.code,
    ]);
    assert.deepEqual(outcomes, [[1, 500, ERROR], [2, 200, 0]]);
    return Promise.resolve();
  });

  await behaviour("the target gets the attempt's span as its parent", () => {
    const parents = attemptsOf(sink, sent.deliveryId).map((request) =>
      request.values("traceparent")
    );
    assert.deepEqual(parents, attempts.map(({ spanId }) => [`00-${TRACE}-${spanId}-01`]));
    return Promise.resolve();
  });

  await behaviour("the sender's tracestate goes on as it came", async () => {
    assert.equal((await arrival(sink, sent)).header("tracestate"), "vendor=opaque");
  });

  await behaviour("without a sender's trace acceptance and attempt begin one", async () => {
    const { deliveryId } = await accept(relay, "demo");
    const [own] = await until(() => {
      const found = collector.of("attempt", deliveryId);
      return found.length > 0 ? found : undefined;
    }, { what: "the attempt's span", withinMs: 20_000 });
    const [root] = await until(() => {
      const found = collector.of("accept", deliveryId);
      return found.length > 0 ? found : undefined;
    }, { what: "the acceptance's span", withinMs: 20_000 });
    assert.deepEqual([own.traceId, own.parentSpanId], [root.traceId, root.spanId]);
    assert.equal(root.parentSpanId, "");
  });

  await behaviour("counters and histograms are exported", async () => {
    await post(relay, "nobody");
    const names = ["holdfast.accepted", "holdfast.refused", "holdfast.attempts"];
    const figures = [...names, "holdfast.settled", "holdfast.attempt.duration"];
    const seen = () => new Set(collector.metrics.map(({ name }) => name));
    await until(() => figures.every((name) => seen().has(name)), {
      what: () => `the figures; there are ${[...seen()]}`,
      withinMs: 20_000,
    });
  });

  await behaviour(
    "nothing that is exported holds a secret, a path, a query or a body",
    async () => {
      await relay.kill("SIGTERM");
      const secret = /s3cr3t|tt9-token|k123-key|body-words|access_token|operator-of-the-tests/;
      assert.doesNotMatch(collector.text, secret);
    },
  );
});

group("a relay without telemetry", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });

  await behaviour("the sender's trace context reaches the target as it came", async () => {
    const request = await arrival(sink, await accept(relay, "demo", { headers: FROM_SENDER }));
    assert.equal(request.header("traceparent"), FROM_SENDER.traceparent);
    assert.equal(request.header("tracestate"), FROM_SENDER.tracestate);
  });

  await behaviour("no trace context is made up", async () => {
    const request = await arrival(sink, await accept(relay, "demo"));
    assert.equal(request.header("traceparent"), undefined);
  });
});

Deno.test("a traceparent that is none starts a new trace", async (t) => {
  const cases = [
    null,
    "",
    "nonsense",
    `00-${"0".repeat(32)}-${SENDER_SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `ff-${TRACE}-${SENDER_SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SENDER_SPAN}-01`,
    `00-${TRACE}-${SENDER_SPAN}-01x`,
  ];
  for (const value of cases) {
    await t.step(String(value), () => assert.equal(parseTraceparent(value), undefined));
  }
});

Deno.test("a traceparent of a later version is understood by its known part", () => {
  assert.deepEqual(parseTraceparent(`01-${TRACE}-${SENDER_SPAN}-03-more`), {
    traceId: TRACE,
    spanId: SENDER_SPAN,
    traceFlags: 1,
    isRemote: true,
  });
});
