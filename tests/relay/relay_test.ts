import assert from "node:assert/strict";
import { arrival, attemptsOf } from "../helpers/arrivals.ts";
import { hmacHex } from "../helpers/bytes.ts";
import { group } from "../helpers/group.ts";
import { page, reached, read, replay, statusOf } from "../helpers/operator.ts";
import { type Relay, runToExit, startRelay } from "../helpers/program.ts";
import { type Sink, startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import { relayTo, send } from "./sending.ts";

interface EndpointView {
  id: string;
  targetUrl: string;
  ordered: boolean;
  counts: { pending: number; dead: number };
}

interface StatusView {
  conditions: { type: string; subject?: string; detail: string }[];
}

const to = (url: string) => `to=${encodeURIComponent(url)}`;

function startRelayTo(sink: Sink, env: Record<string, string> = {}): Promise<Relay> {
  return startRelay({ env: { RELAY_TARGETS: `http://${sink.host}`, ...env } });
}

async function ofTarget(relay: Relay, target: string): Promise<EndpointView | undefined> {
  const { items } = await read<{ items: EndpointView[] }>(relay, "/endpoints");
  return items.find(({ targetUrl }) => targetUrl === target);
}

group("Relay mode", async (behaviour) => {
  await using sink = startSink(({ target }) => ({
    status: target.startsWith("/broken") ? 400 : 200,
  }));
  await using relay = await startRelayTo(sink, { ENDPOINTS: "[]" });

  await behaviour(
    "what is sent to /?to=URL arrives there, and nothing is added to it",
    async () => {
      const target = sink.url("/in?a=1&b=%20x");
      const answer = await send(relay, `x=y&${to(target)}&z`, { body: "bytes" });
      assert.equal(answer.http, 202);
      const request = await arrival(sink, answer);
      assert.equal(request.line.split(" ").slice(0, 2).join(" "), "POST /in?a=1&b=%20x");
      assert.equal(request.text, "bytes");
      assert.equal(request.header("host"), sink.host);
    },
  );

  await behaviour("X-Forward-To wins over the parameter, and is not forwarded", async () => {
    const headers = { "x-forward-to": sink.url("/by-header") };
    const request = await arrival(
      sink,
      await send(relay, to(sink.url("/by-parameter")), { headers }),
    );
    assert.equal(request.target, "/by-header");
    assert.equal(request.header("x-forward-to"), undefined);
  });

  for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
    await behaviour(`${method} is relayed as ${method}`, async () => {
      const request = await arrival(sink, await relayTo(relay, sink.url(`/${method}`), { method }));
      assert(request.line.startsWith(`${method} /${method} `), request.line);
    });
  }

  await behaviour("a target that is not allowed is refused and nothing is stored", async () => {
    const before = await page(relay, "limit=100");
    const answer = await send(relay, to("https://elsewhere.example/in"));
    assert.deepEqual([answer.http, answer.code], [403, "target_not_allowed"]);
    assert.deepEqual(
      (await page(relay, "limit=100")).items.map(({ id }) => id),
      before.items.map(({ id }) => id),
    );
  });

  await behaviour("two targets in one request are refused", async () => {
    const answer = await send(relay, `${to(sink.url("/a"))}&${to(sink.url("/b"))}`);
    assert.deepEqual([answer.http, answer.code], [400, "bad_parameter"]);
  });

  await behaviour("GET / without a target is liveness", async () => {
    const response = await fetch(relay.origin);
    assert.deepEqual(await response.json(), { status: "ok" });
  });

  await behaviour("a repeat of the same event to the same target is a duplicate", async () => {
    const headers = { "idempotency-key": "once" };
    await relayTo(relay, sink.url("/repeat"), { headers });
    const again = await send(relay, to(sink.url("/repeat")), { headers });
    assert.deepEqual([again.http, again.status], [200, "duplicate"]);
    assert.equal((await send(relay, to(sink.url("/other")), { headers })).status, "accepted");
  });

  await behaviour("operators see a target's origin and path, not its query", async () => {
    const target = sink.url("/broken?key=s3cret");
    const { deliveryId } = await relayTo(relay, target);
    await reached(relay, deliveryId, "dead");
    const shown = await ofTarget(relay, target.split("?")[0]);
    assert.equal(shown?.ordered, true);
    assert.equal(shown?.counts.dead, 1);
    for (const path of ["/endpoints", `/endpoints/${shown?.id}`, "/status", "/deliveries"]) {
      assert(!(await (await relay.api(path)).text()).includes("s3cret"), path);
    }
  });

  await behaviour("a dead letter of a relayed event is replayed like any other", async () => {
    const { deliveryId } = await relayTo(relay, sink.url("/broken"));
    const { endpoint } = await reached(relay, deliveryId, "dead");
    const letters = await read<{ items: { id: string }[] }>(relay, `/dead-letters/${endpoint}`);
    assert.deepEqual(letters.items.map(({ id }) => id), [deliveryId]);
    assert.equal(await replay(relay, deliveryId), 202);
    await until(() => attemptsOf(sink, deliveryId).length === 2, { what: "the replay" });
  });

  await behaviour("a lane is paused and resumed by its id", async () => {
    const target = sink.url("/paused");
    const first = await relayTo(relay, target);
    const { endpoint } = await reached(relay, first.deliveryId, "delivered");
    await statusOf(relay.api(`/endpoints/${endpoint}/pause`, { method: "POST" }));
    const { deliveryId } = await relayTo(relay, target);
    await until(async () => (await ofTarget(relay, target))?.counts.pending === 1, {
      what: "the delivery to wait",
    });
    assert.deepEqual(attemptsOf(sink, deliveryId), []);
    await statusOf(relay.api(`/endpoints/${endpoint}/resume`, { method: "POST" }));
    await reached(relay, deliveryId, "delivered");
  });
});

Deno.test("without RELAY_TARGETS a request that names a target is answered 404", async () => {
  await using relay = await startRelay();
  assert.equal((await send(relay, to("https://app.example.com"))).http, 404);
  const headers = { "x-forward-to": "https://app.example.com" };
  assert.equal((await send(relay, "", { headers, method: "GET" })).http, 404);
});

Deno.test("a malformed pattern stops the start and is named by its place", async () => {
  const env = { RELAY_TARGETS: "https://app.example.com, https://*" };
  const { code, output } = await runToExit({ env });
  assert.equal(code, 1);
  assert.match(output, /RELAY_TARGETS has a pattern \(number 2\)/);
});

for (const name of ["RELAY_TOKEN", "RELAY_SECRET", "RELAY_PROVIDER", "RELAY_GATE"]) {
  for (const value of ["", " \n"]) {
    Deno.test(`${name}=${JSON.stringify(value)} stops the start, it opens no door`, async () => {
      const env = { RELAY_TARGETS: "https://app.example.com", RELAY_PROVIDER: "github" };
      const { code, output } = await runToExit({ env: { ...env, [name]: value } });
      assert.equal(code, 1);
      assert.match(output, new RegExp(`^cannot start: ${name} is empty`, "m"));
    });
  }
}

group("RELAY_TOKEN", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelayTo(sink, { RELAY_TOKEN: "s3cret", LOG_LEVEL: "debug" });
  const target = to(sink.url("/in"));

  for (
    const [how, query, authorization] of [
      ["no token", target, undefined],
      ["a wrong parameter", `${target}&token=s3cre`, undefined],
      ["a wrong bearer", target, "Bearer s3cret2"],
      ["another scheme", target, "Basic s3cret"],
    ] as const
  ) {
    await behaviour(`${how} is answered 401`, async () => {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      assert.equal((await send(relay, query, { headers })).http, 401);
    });
  }

  await behaviour("strangers do not learn which targets are allowed", async () => {
    assert.equal((await send(relay, to("https://elsewhere.example"))).http, 401);
  });

  await behaviour("the right bearer is let in and not forwarded", async () => {
    const headers = { authorization: "Bearer s3cret" };
    const request = await arrival(sink, await send(relay, target, { headers }));
    assert.equal(request.header("authorization"), undefined);
  });

  await behaviour("with the parameter, Authorization is the target's", async () => {
    const headers = { authorization: "Bearer of-the-target" };
    const request = await arrival(sink, await send(relay, `${target}&token=s3cret`, { headers }));
    assert.equal(request.header("authorization"), "Bearer of-the-target");
    assert(!request.headers.some(([, value]) => value.includes("s3cret")));
  });

  await behaviour("neither log nor metrics tell tokens, shown or wrong, or where to", async () => {
    const hidden = `${to(sink.url("/services/T0/pr1vate?key=pr1vate"))}&token=s3cret`;
    const { deliveryId } = await send(relay, hidden);
    await reached(relay, deliveryId, "delivered");
    await send(relay, `${to("https://elsewhere.example/pr1vate")}&token=s3cret`);
    const metrics = await (await relay.asOperator("/metrics")).text();
    assert.doesNotMatch(relay.output + metrics, /s3cre|of-the-target|pr1vate/);
  });
});

Deno.test("RELAY_GATE=github asks for all three marks, and takes GitHub's id for the event's", async () => {
  await using sink = startSink();
  await using relay = await startRelayTo(sink, { RELAY_GATE: "github" });
  const marks = {
    "x-github-event": "push",
    "x-github-delivery": "0b989ba4-242f-11e5-81e1-c7b6966d2516",
    "user-agent": "GitHub-Hookshot/044aadd",
  };
  for (const missing of Object.keys(marks)) {
    const headers = { ...marks, [missing]: missing === "user-agent" ? "curl/8" : "" };
    assert.equal((await send(relay, to(sink.url()), { headers })).http, 403, missing);
  }
  assert.equal((await send(relay, to(sink.url()), { headers: marks })).status, "accepted");
  assert.equal((await send(relay, to(sink.url()), { headers: marks })).status, "duplicate");
});

Deno.test("RELAY_PROVIDER and RELAY_SECRET verify at the door", async () => {
  await using sink = startSink();
  await using relay = await startRelayTo(sink, {
    RELAY_PROVIDER: "github",
    RELAY_SECRET: "hook-secret",
  });
  const body = '{"action":"opened"}';
  const signed = (secret: string) => ({
    headers: { "x-hub-signature-256": `sha256=${hmacHex(secret, body)}` },
    body,
  });
  const forged = await send(relay, to(sink.url()), signed("another"));
  assert.deepEqual([forged.http, forged.code], [401, "bad_signature"]);
  assert.equal((await send(relay, to(sink.url()), { body })).code, "missing_signature");
  await arrival(sink, await send(relay, to(sink.url()), signed("hook-secret")));
});

Deno.test("a private address is blocked when the connection is made", async () => {
  await using sink = startSink();
  await using relay = await startRelay({
    env: { RELAY_TARGETS: `http://localhost:${sink.port}`, ALLOW_PRIVATE_TARGETS: "0" },
  });
  const { deliveryId } = await relayTo(relay, `http://localhost:${sink.port}/in`);
  const attempt = await until(
    async () =>
      (await read<{ attempts: { code?: string }[] }>(relay, `/deliveries/${deliveryId}`))
        .attempts[0],
    { what: "the first attempt" },
  );
  assert.equal(attempt.code, "blocked_address");
  assert.equal(sink.connections, 0);
});

Deno.test("a lane is found again after a crash, and held while its target is not allowed", async () => {
  await using sink = startSink({ status: 503 });
  await using relay = await startRelayTo(sink, { LEASE: "2s" });
  const target = sink.url("/in?key=s3cret");
  const { deliveryId } = await relayTo(relay, target);
  await arrival(sink, { deliveryId });

  await relay.restart({ env: { LEASE: "2s", RELAY_TARGETS: "https://app.example.com" } });
  const condition = await until(async () => {
    const { conditions } = await read<StatusView>(relay, "/status");
    return conditions.find(({ type }) => type === "endpoint_removed");
  }, { what: "the condition" });
  assert(condition.detail.startsWith(`http://${sink.host}/in `), condition.detail);
  const attempts = attemptsOf(sink, deliveryId).length;
  const lane = `/endpoints/${condition.subject}`;
  assert.equal(await statusOf(relay.api(`${lane}/test`, { method: "POST" })), 404);
  assert.equal(attemptsOf(sink, deliveryId).length, attempts);

  sink.script = { status: 200 };
  await relay.restart({ env: { LEASE: "2s", RELAY_TARGETS: `http://${sink.host}` } });
  await reached(relay, deliveryId, "delivered", 60_000);
});

Deno.test("200 posts to 5 targets arrive in order at each, with failures in between", async () => {
  let requests = 0;
  await using sink = startSink(() => ({ status: ++requests % 40 === 0 ? 500 : 200 }));
  await using relay = await startRelayTo(sink);
  const targets = [0, 1, 2, 3, 4].map((n) => sink.url(`/target/${n}`));
  const sent = targets.map(() => [] as string[]);
  await Promise.all(targets.map(async (target, lane) => {
    for (let n = 0; n < 40; n++) {
      const body = `${lane}/${n}`;
      await relayTo(relay, target, { body });
      sent[lane].push(body);
    }
  }));
  const arrived = (lane: number) => {
    const bodies = sink.requests.filter(({ target }) => target === `/target/${lane}`)
      .map(({ text }) => text);
    return bodies.filter((body, at) => body !== bodies[at - 1]);
  };
  await until(async () => (await page(relay, "state=delivered&limit=200")).items.length === 200, {
    what: "all deliveries",
    withinMs: 120_000,
  });
  targets.forEach((_, lane) => assert.deepEqual(arrived(lane), sent[lane]));
});
