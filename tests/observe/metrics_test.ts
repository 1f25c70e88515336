import assert from "node:assert/strict";
import { exposition } from "../../lib/observe/exposition.ts";
import { Counter, Histogram } from "../../lib/observe/instruments.ts";
import { Metrics } from "../../lib/observe/metrics.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group, test } from "../helpers/group.ts";
import { reached, statusOf } from "../helpers/operator.ts";
import { accept, post } from "../helpers/post.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import { relayTo } from "../relay/sending.ts";
import { check, type Series } from "./promtool.ts";

const scrape = async (relay: Relay) => check(await (await relay.asOperator("/metrics")).text());

/** The value of the one series with this name and these labels; 0 where there is none. */
function value(series: readonly Series[], name: string, labels: Record<string, string> = {}) {
  const found = series.filter((one) =>
    one.name === name && Object.entries(labels).every(([label, text]) => one.labels[label] === text)
  );
  assert(found.length <= 1, `${found.length} series fit ${name} ${JSON.stringify(labels)}`);
  return found[0]?.value ?? 0;
}

group("metrics of a running relay", async (behaviour) => {
  await using good = startSink();
  await using bad = startSink({ status: 500 });
  await using relay = await startRelay({
    endpoints: [
      endpoint("good", good),
      endpoint("bad", bad, { retry: { schedule: ["10ms"] }, breaker: { failures: 1 } }),
      endpoint("held", good),
    ],
  });
  const first = await accept(relay, "good", { headers: { "idempotency-key": "e1" } });
  await reached(relay, first.deliveryId, "delivered");
  await post(relay, "good", { headers: { "idempotency-key": "e1" } });
  for (let n = 0; n < 30; n++) await post(relay, `nobody-${n}`);
  await statusOf(relay.api("/endpoints/held/pause", { method: "POST" }));
  const { series, faults } = await scrape(relay);

  await behaviour("the text is well formed", () => {
    assert.deepEqual(faults, []);
    return Promise.resolve();
  });

  await behaviour("acceptances and repeats are counted apart", () => {
    const counted = (status: string) =>
      value(series, "holdfast_accepted_total", { endpoint: "good", status });
    assert.deepEqual([counted("accepted"), counted("duplicate")], [1, 1]);
    return Promise.resolve();
  });

  await behaviour("refusals are counted by code, under one label for unknown endpoints", () => {
    const refused = series.filter(({ name }) => name === "holdfast_refused_total");
    assert.deepEqual(refused.map(({ labels, value }) => [labels, value]), [
      [{ endpoint: "other", code: "unknown_endpoint" }, 30],
    ]);
    return Promise.resolve();
  });

  await behaviour("attempts are counted by outcome and timed", () => {
    assert.equal(
      value(series, "holdfast_attempts_total", { endpoint: "good", outcome: "delivered" }),
      1,
    );
    assert.equal(value(series, "holdfast_attempt_duration_seconds_count", { endpoint: "good" }), 1);
    assert.equal(value(series, "holdfast_accept_duration_seconds_count", { endpoint: "good" }), 2);
    return Promise.resolve();
  });

  await behaviour("a pause and a healthy lane are seen in the gauges", () => {
    assert.equal(value(series, "holdfast_lane_paused", { endpoint: "held" }), 1);
    assert.equal(value(series, "holdfast_lane_paused", { endpoint: "good" }), 0);
    const healthy = { endpoint: "good", status: "enabled" };
    assert.equal(value(series, "holdfast_lane_health", healthy), 1);
    assert.equal(value(series, "holdfast_store_up"), 1);
    return Promise.resolve();
  });

  await behaviour("what waits is seen in the gauges", async () => {
    await accept(relay, "held");
    const { series } = await scrape(relay);
    assert.equal(value(series, "holdfast_pending", { endpoint: "held" }), 1);
    assert(value(series, "holdfast_overdue_seconds", { endpoint: "held" }) > 0);
  });

  await behaviour("dead letters are seen in the gauges, and counted", async () => {
    const { deliveryId } = await accept(relay, "bad", { headers: { "idempotency-key": "b" } });
    await reached(relay, deliveryId, "dead");
    const { series } = await scrape(relay);
    assert.equal(value(series, "holdfast_dead_letters", { endpoint: "bad" }), 1);
    const died = { endpoint: "bad", state: "dead", reason: "exhausted" };
    assert.equal(value(series, "holdfast_settled_total", died), 1);
  });

  await behaviour("without the token there are no metrics", async () => {
    assert.equal(await statusOf(fetch(`${relay.origin}/metrics`)), 401);
  });

  await behaviour("they say their format", async () => {
    const response = await relay.asOperator("/metrics");
    assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    await response.body?.cancel();
  });
});

test("relay mode's lanes are told together under one label, however many there are", async () => {
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink)],
    env: { RELAY_TARGETS: sink.url("/") },
  });
  const { deliveryId } = await relayTo(relay, sink.url("/first"));
  const { endpoint: lane } = await reached(relay, deliveryId, "delivered");
  await statusOf(relay.api(`/endpoints/${lane}/pause`, { method: "POST" }));
  for (let n = 0; n < 3; n++) await relayTo(relay, sink.url("/first"));
  for (let n = 0; n < 20; n++) await relayTo(relay, sink.url(`/${n}`));
  const { series, faults } = await until(async () => {
    const scraped = await scrape(relay);
    const waiting = value(scraped.series, "holdfast_pending", { endpoint: "other" });
    return waiting === 3 ? scraped : undefined;
  }, { what: "all but the paused lane to be empty" });
  assert.deepEqual(faults, []);
  const labels = new Set(series.map(({ labels }) => labels.endpoint));
  assert.deepEqual(labels, new Set([undefined, "demo", "other"]));
  const other = (name: string) => value(series, name, { endpoint: "other" });
  assert.equal(other("holdfast_lane_paused"), 1);
  assert(other("holdfast_overdue_seconds") > 0);
  assert.equal(other("holdfast_accepted_total"), 24);
});

test("an endpoint that is called other is told together with relay mode's lanes", async () => {
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [endpoint("other", sink)],
    env: { RELAY_TARGETS: sink.url("/") },
  });
  await statusOf(relay.api("/endpoints/other/pause", { method: "POST" }));
  await accept(relay, "other");
  const { series, faults } = await scrape(relay);
  assert.deepEqual(faults, []);
  assert.equal(value(series, "holdfast_pending", { endpoint: "other" }), 1);
});

Deno.test("a histogram counts a time at a bucket's end in that bucket", () => {
  const histogram = new Histogram("t_seconds", "help", "endpoint", [0.01, 0.1]);
  for (const ms of [10, 10.1, 100, 101]) histogram.record("demo", ms);
  const { samples } = histogram.family();
  assert.deepEqual(samples.map(({ value }) => value), [1, 3, 4, 0.2211, 4]);
});

Deno.test("label values with quotes, backslashes and line ends stay one label", () => {
  const counter = new Counter("n_total", "help", ["what"]);
  counter.add('a"b\\c\nd');
  const { series, faults } = check(exposition([counter.family()]));
  assert.deepEqual(faults, []);
  assert.deepEqual(series.map(({ labels }) => labels), [{ what: 'a\\"b\\\\c\\nd' }]);
});

Deno.test("metrics before any event are well formed", () => {
  const text = exposition(new Metrics(new Set<string>()).families());
  assert.deepEqual(check(text).faults, []);
});

Deno.test("the checker finds what Prometheus would refuse", async (t) => {
  const head = "# HELP a_total x\n# TYPE a_total counter\n";
  const bad: Record<string, string> = {
    "no end of the last line": `${head}a_total 1`,
    "a series twice": `${head}a_total{l="1"} 1\na_total{l="1"} 2\n`,
    "no TYPE": "b 1\n",
    "TYPE twice": `${head}# TYPE a_total counter\na_total 1\n`,
    "a raw quote in a label": `${head}a_total{l="a"b"} 1\n`,
    "no number": `${head}a_total one\n`,
    "a counter without _total": "# HELP a x\n# TYPE a counter\na 1\n",
    "buckets that fall":
      '# HELP h x\n# TYPE h histogram\nh_bucket{le="1"} 3\nh_bucket{le="+Inf"} 2\nh_sum 1\nh_count 2\n',
    "a histogram without +Inf":
      '# HELP h x\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_sum 1\nh_count 2\n',
    "a family in two places":
      `${head}# HELP b x\n# TYPE b gauge\na_total 1\nb 1\na_total{l="2"} 1\n`,
  };
  for (const [what, text] of Object.entries(bad)) {
    await t.step(what, () => assert.notDeepEqual(check(text).faults, []));
  }
});
