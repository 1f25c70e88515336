import assert from "node:assert/strict";
import { type Answer, SILENCE } from "../helpers/answer.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group, test } from "../helpers/group.ts";
import { delivery, reached, read } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { freePort } from "../helpers/ports.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { pause, until } from "../helpers/wait.ts";
import { contractOf, type EndpointView, endpointView } from "./contract.ts";

interface TestView {
  ok: boolean;
  at: string;
  ms: number;
  status?: number;
  code?: string;
}

const act = (relay: Relay, id: string, action: string): Promise<EndpointView> =>
  read(relay, `/endpoints/${id}/${action}`, { method: "POST" });

const sendTest = (relay: Relay, id: string): Promise<TestView> =>
  read(relay, `/endpoints/${id}/test`, { method: "POST" });

const LONG_BREAKER = { failures: 3, open: "5m", cap: "5m" };

group("endpoints", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [
      endpoint("demo", sink),
      endpoint("secretive", "http://127.0.0.1:1/t0ken-path?key=t0ken-query", {
        provider: "github",
        secret: ["t0ken-one", "t0ken-two"],
        signingSecret: "t0ken-signing",
        verifyToken: "t0ken-verify",
        headers: { "x-api-key": "t0ken-header" },
        github: { repo: "owner/name", hookId: 1, token: "t0ken-github" },
      }),
    ],
    env: { GITHUB_API_URL: `http://127.0.0.1:${freePort()}` },
  });
  const contract = await contractOf(relay);

  await behaviour("are listed as the document says", async () => {
    const path = "/api/v1/endpoints";
    const { body } = await contract.ask<{ items: EndpointView[] }>(relay, "get", path, path);
    assert.deepEqual(body.items.map(({ id }) => id), ["demo", "secretive"]);
  });

  await behaviour("are not for caches on the way", async () => {
    const response = await relay.api("/endpoints");
    await response.body?.cancel();
    assert.equal(response.headers.get("cache-control"), "no-store");
  });

  await behaviour(
    "show settings, and of secrets, headers and targets only that they are",
    async () => {
      const url = "/api/v1/endpoints/secretive";
      const { body } = await contract.ask<Record<string, unknown>>(
        relay,
        "get",
        "/api/v1/endpoints/{id}",
        url,
      );
      assert.doesNotMatch(JSON.stringify(body), /t0ken/);
      assert.equal(body.targetUrl, "http://127.0.0.1:1");
      assert.deepEqual(body.secrets, ["***", "***"]);
      assert.deepEqual(body.headers, { "x-api-key": "***" });
      assert.deepEqual([body.signingSecret, body.verifyToken], ["***", "***"]);
    },
  );

  for (const action of ["pause", "resume", "disable", "enable"]) {
    await behaviour(`${action} may be said twice and answers with the endpoint`, async () => {
      const path = `/api/v1/endpoints/{id}/${action}`;
      for (let times = 0; times < 2; times++) {
        const url = `/api/v1/endpoints/demo/${action}`;
        const { status, body } = await contract.ask<EndpointView>(relay, "post", path, url);
        assert.equal(status, 200);
        assert.equal(body.paused, action === "pause");
        assert.equal(body.health, action === "disable" ? "disabled" : "enabled");
      }
    });
  }

  await behaviour("a test's report is as the document says", async () => {
    const path = "/api/v1/endpoints/{id}/test";
    const { body } = await contract.ask<TestView>(
      relay,
      "post",
      path,
      "/api/v1/endpoints/demo/test",
    );
    assert.deepEqual([body.ok, body.status], [true, 200]);
  });
});

test("a paused endpoint holds even the direct way from accept to target", async () => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  await reached(relay, (await accept(relay, "demo")).deliveryId, "delivered");
  await act(relay, "demo", "pause");
  const { deliveryId } = await accept(relay, "demo");
  await pause(200);
  assert.equal(sink.requests.length, 1);
  const { counts, oldestPendingAt } = await endpointView(relay, "demo");
  assert.equal(counts.pending, 1);
  assert.equal(oldestPendingAt, (await delivery(relay, deliveryId)).acceptedAt);
  await act(relay, "demo", "resume");
  await reached(relay, deliveryId, "delivered");
});

test("what one process pauses another one sees, holds and resumes", async () => {
  await using sink = startSink();
  const endpoints = [endpoint("demo", sink)];
  await using first = await startRelay({ endpoints });
  await using second = await startRelay({ endpoints, kvPath: first.kvPath });
  await act(first, "demo", "pause");
  assert.equal((await endpointView(second, "demo")).paused, true);
  await accept(second, "demo");
  await accept(first, "demo");
  assert.equal((await endpointView(first, "demo")).counts.pending, 2);
  assert.equal((await act(second, "demo", "resume")).paused, false);
  assert.equal((await endpointView(first, "demo")).paused, false);
  await until(() => sink.requests.length === 2, { what: "both deliveries", withinMs: 20_000 });
});

group("counts", async (behaviour) => {
  let answer: Answer = { status: 400 };
  await using sink = startSink(() => answer);
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, { retry: { schedule: ["10m"] } })],
  });

  await behaviour("tell the dead, the waiting and the attempted apart", async () => {
    for (let n = 0; n < 3; n++) {
      await reached(relay, (await accept(relay, "demo")).deliveryId, "dead");
    }
    answer = { status: 500 };
    for (let n = 0; n < 2; n++) {
      const { deliveryId } = await accept(relay, "demo");
      await until(async () => (await delivery(relay, deliveryId)).attemptCount === 1, {
        what: "the failed attempt",
      });
    }
    answer = SILENCE;
    await accept(relay, "demo");
    const { counts } = await endpointView(relay, "demo");
    assert.deepEqual([counts.dead, counts.pending, counts.inFlight], [3, 2, 1]);
  });

  await behaviour("of the last hour add up", async () => {
    const { counts: { lastHour } } = await endpointView(relay, "demo");
    const { accepted, attempts, failed, dead, delivered } = lastHour;
    assert.deepEqual([accepted, attempts, failed, dead, delivered], [6, 5, 5, 3, 0]);
  });
});

test("an ordered endpoint names the delivery that blocks it, and until when", async () => {
  await using sink = startSink({ status: 500 });
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, { ordered: true, retry: { schedule: ["10m"] } })],
  });
  const head = await accept(relay, "demo");
  await accept(relay, "demo");
  const { blockedBy } = await until(async () => {
    const view = await endpointView(relay, "demo");
    return view.blockedBy?.until === undefined ? undefined : view;
  }, { what: "the head to block" });
  assert.equal(blockedBy?.deliveryId, head.deliveryId);
  assert(Date.parse(blockedBy?.until ?? "") > Date.now() + 60_000);
});

test("a test event is one plain request with its own type, and is stored nowhere", async () => {
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, { signingSecret: "k3y", headers: { "x-own": "1" } })],
  });
  const report = await sendTest(relay, "demo");
  assert.deepEqual([report.ok, report.status, report.code], [true, 200, undefined]);
  assert(report.ms >= 0);
  const [request] = sink.requests;
  assert.equal(sink.requests.length, 1);
  assert.equal(request.line, "POST /in HTTP/1.1");
  assert.equal(JSON.parse(request.text).type, "holdfast.test");
  assert.match(request.header("holdfast-event-id") ?? "", /^holdfast\.test:/);
  assert.match(request.header("holdfast-signature") ?? "", /^v1,/);
  assert.equal(request.header("x-own"), "1");
  assert.deepEqual((await read<{ items: unknown[] }>(relay, "/deliveries")).items, []);
  assert.equal((await endpointView(relay, "demo")).counts.lastHour.attempts, 0);
});

test("a successful test enables a disabled endpoint and its deliveries go out", async () => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  await act(relay, "demo", "disable");
  const { deliveryId } = await accept(relay, "demo");
  assert.equal((await sendTest(relay, "demo")).ok, true);
  assert.equal((await endpointView(relay, "demo")).health, "enabled");
  await reached(relay, deliveryId, "delivered");
});

test("an endpoint that the relay disabled is enabled by a test once its target is back", async () => {
  let status = 500;
  await using sink = startSink(() => ({ status }));
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, { disableAfter: "150ms" })],
  });
  await accept(relay, "demo");
  await until(async () => (await endpointView(relay, "demo")).health === "disabled", {
    what: "the relay to disable the endpoint",
  });
  assert.equal((await endpointView(relay, "demo")).disabledBy, "relay");
  assert.equal((await sendTest(relay, "demo")).status, 500);
  assert.equal((await endpointView(relay, "demo")).health, "disabled");
  status = 204;
  assert.equal((await sendTest(relay, "demo")).ok, true);
  assert.equal((await endpointView(relay, "demo")).health, "enabled");
});

test("a failed test changes nothing", async () => {
  await using relay = await startRelay({
    endpoints: [endpoint("demo", `http://127.0.0.1:${freePort()}/in`, { breaker: LONG_BREAKER })],
  });
  const before = await endpointView(relay, "demo");
  for (let times = 0; times < 6; times++) {
    const { ok, status, code } = await sendTest(relay, "demo");
    assert.deepEqual([ok, status, code], [false, undefined, "refused"]);
  }
  assert.deepEqual(await endpointView(relay, "demo"), before);
});

test("a successful test does not close an open breaker but lets its probe go at once", async () => {
  let status = 500;
  await using sink = startSink(() => ({ status }));
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, { breaker: LONG_BREAKER, retry: { schedule: ["10m"] } })],
  });
  const ids = [];
  for (let n = 0; n < 3; n++) ids.push((await accept(relay, "demo")).deliveryId);
  await until(async () => (await endpointView(relay, "demo")).breaker.state === "open", {
    what: "the breaker to open",
  });
  status = 200;
  assert.equal((await sendTest(relay, "demo")).ok, true);
  for (const id of ids) await reached(relay, id, "delivered");
  assert.equal((await endpointView(relay, "demo")).breaker.state, "closed");
});

test("a successful test does not overrule a target that asked to wait", async () => {
  let answer: Answer = { status: 429, headers: ["Retry-After: 600"] };
  await using sink = startSink(() => answer);
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, { breaker: LONG_BREAKER })],
  });
  await accept(relay, "demo");
  const open = await until(async () => {
    const { breaker } = await endpointView(relay, "demo");
    return breaker.state === "open" ? breaker : undefined;
  }, { what: "the breaker to open" });
  answer = {};
  assert.equal((await sendTest(relay, "demo")).ok, true);
  assert.deepEqual((await endpointView(relay, "demo")).breaker, open);
});
