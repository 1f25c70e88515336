import assert from "node:assert/strict";
import { accept } from "../helpers/post.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { freePort } from "../helpers/ports.ts";
import { startRelay } from "../helpers/program.ts";
import { group, test } from "../helpers/group.ts";
import { inParallel } from "../helpers/parallel.ts";
import { reached, read, statusOf } from "../helpers/operator.ts";
import { startSink } from "../helpers/sink.ts";
import { pause, until } from "../helpers/wait.ts";

interface EndpointView {
  paused: boolean;
  health: string;
  breaker: { state: string; until?: string };
}

interface StatusView {
  scheduler: unknown;
  conditions: { type: string; subject?: string; count: number }[];
}

const SECRETS = /s3cr3t/;

group("the operator's view of endpoints", async (behaviour) => {
  await using sink = startSink();
  const hidden = `http://127.0.0.1:${freePort()}/services/s3cr3t?token=s3cr3t`;
  await using relay = await startRelay({
    endpoints: [
      endpoint("shown", sink, { showPayload: true }),
      endpoint("hidden", hidden, {
        secret: "s3cr3t-hmac",
        headers: { "x-key": "s3cr3t-header" },
        signingSecret: "s3cr3t-sign",
      }),
      endpoint("down", hidden, {
        retry: { schedule: ["10m"] },
        breaker: { failures: 3, open: "5m", cap: "5m" },
      }),
    ],
    env: { SCHEDULER: "sweep" },
  });

  for (const route of ["/status", "/endpoints", "/endpoints/hidden"]) {
    await behaviour(`${route} shows neither secrets nor paths of targets`, async () => {
      assert.doesNotMatch(JSON.stringify(await read(relay, route)), SECRETS);
    });
  }

  await behaviour("the metrics are for operators only and show no secret", async () => {
    assert.equal(await statusOf(fetch(`${relay.origin}/metrics`)), 401);
    const response = await relay.asOperator("/metrics");
    assert.equal(response.status, 200);
    assert.doesNotMatch(await response.text(), SECRETS);
  });

  await behaviour("the status says how waking works", async () => {
    const { scheduler } = await read<StatusView>(relay, "/status");
    assert.match(JSON.stringify(scheduler), /sweep/);
  });

  await behaviour("an open breaker is shown with its end", async () => {
    for (let n = 0; n < 3; n++) await accept(relay, "down");
    await until(
      async () => (await read<EndpointView>(relay, "/endpoints/down")).breaker.state === "open",
      { what: "the breaker to open" },
    );
    const { breaker } = await read<EndpointView>(relay, "/endpoints/down");
    assert(Date.parse(breaker.until ?? "") > Date.now());
    const { conditions } = await read<StatusView>(relay, "/status");
    assert(conditions.some(({ type, subject }) => type === "breaker_open" && subject === "down"));
  });

  await behaviour("an operator who may see payloads reads back the very bytes", async () => {
    const body = new Uint8Array([0, 255, 13, 10, 128]);
    const { deliveryId } = await accept(relay, "shown", { body });
    const response = await relay.api(`/deliveries/${deliveryId}/payload`);
    assert.deepEqual([...new Uint8Array(await response.arrayBuffer())], [...body]);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.match(response.headers.get("content-disposition") ?? "", /^attachment/);
  });

  await behaviour("payloads are hidden unless the endpoint shows them", async () => {
    const { deliveryId } = await accept(relay, "down", { body: "s3cr3t-body" });
    const response = await relay.api(`/deliveries/${deliveryId}/payload`);
    const text = await response.text();
    assert.equal(response.status, 403);
    assert.doesNotMatch(text, SECRETS);
  });

  await behaviour("an unknown endpoint is a 404 on every route", async () => {
    assert.equal(await statusOf(relay.api("/endpoints/nope")), 404);
    for (const verb of ["pause", "resume", "enable", "disable", "test"]) {
      const asked = relay.api(`/endpoints/nope/${verb}`, { method: "POST" });
      assert.equal(await statusOf(asked), 404, verb);
    }
  });
});

test("paused lanes accept and wait, over a restart, until they are resumed", async () => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  await read(relay, "/endpoints/demo/pause", { method: "POST" });
  await inParallel(5, 5, () => accept(relay, "demo"));
  await relay.restart();
  await pause(300);
  assert.equal(sink.requests.length, 0);
  await read(relay, "/endpoints/demo/resume", { method: "POST" });
  await until(() => sink.requests.length === 5, { what: "the five that waited" });
});

test("disabled lanes accept and wait until they are enabled", async () => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  await read(relay, "/endpoints/demo/disable", { method: "POST" });
  const { deliveryId } = await accept(relay, "demo");
  assert.equal((await read<EndpointView>(relay, "/endpoints/demo")).health, "disabled");
  await pause(300);
  assert.equal(sink.requests.length, 0);
  await read(relay, "/endpoints/demo/enable", { method: "POST" });
  await reached(relay, deliveryId, "delivered");
});

test("a test event reports its attempt and makes nothing worse", async () => {
  await using sink = startSink({ status: 500 });
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  const report = await read(relay, "/endpoints/demo/test", { method: "POST" });
  assert.match(JSON.stringify(report), /500/);
  assert.match(sink.requests[0].text + sink.requests[0].line, /holdfast\.test|\/in/);
  assert.equal((await read<EndpointView>(relay, "/endpoints/demo")).health, "enabled");
});

test("deliveries of a removed endpoint are named in the status", async () => {
  await using sink = startSink({ status: 500 });
  const demo = endpoint("demo", sink, { retry: { schedule: ["10m"] } });
  await using relay = await startRelay({ endpoints: [demo] });
  for (let n = 0; n < 5; n++) await accept(relay, "demo");
  await until(() => sink.requests.length === 5, { what: "the first attempts" });
  await relay.kill("SIGTERM");
  await relay.restart({ endpoints: [endpoint("other", sink)] });
  const { count } = await until(async () => {
    const { conditions } = await read<StatusView>(relay, "/status");
    return conditions.find((one) => one.type === "endpoint_removed" && one.subject === "demo");
  }, { what: "the removed endpoint to be named" });
  assert.equal(count, 5);
});
