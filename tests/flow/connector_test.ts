import assert from "node:assert/strict";
import type { Resolve } from "../../lib/flow/connector.ts";
import { startSink } from "../helpers/sink.ts";
import { openTransport, outcome, request } from "./sending.ts";
import { freePort } from "../helpers/ports.ts";

const named = (...addresses: string[]): Resolve => () => Promise.resolve(addresses);

// Deno 2.5 leaves a connect that was given up running, which the test runner reports.
const ignore = Deno.version.deno.startsWith("2.5.");

/** Listens on IPv6 loopback and swallows connections: the backlog is full, SYNs are dropped. */
async function blackHole(port: number): Promise<Disposable> {
  const listener = Deno.listen({ hostname: "::1", port, tcpBacklog: 1 });
  const held = [
    await Deno.connect({ hostname: "::1", port }),
    await Deno.connect({ hostname: "::1", port }),
  ];
  return {
    [Symbol.dispose]() {
      for (const conn of held) conn.close();
      listener.close();
    },
  };
}

const LOOPBACK_SPELLINGS = [
  ...["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "0.0.0.0"],
  ...["[::]", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]"],
  ...["[64:ff9b::127.0.0.1]", "localhost"],
];

for (const host of LOOPBACK_SPELLINGS) {
  Deno.test(`send() refuses http://${host}/ where private targets are not allowed`, async () => {
    await using sink = startSink();
    await using transport = openTransport({ privateTargets: false });
    const { origin } = new URL(`http://${host}:${sink.port}`);
    assert.equal(await outcome(transport, { ...request(""), origin }), "blocked_address");
    assert.equal(sink.connections, 0);
  });
}

for (const address of ["169.254.169.254", "[::ffff:a9fe:a9fe]", "[::FFFF:10.0.0.1]", "10.1.2.3"]) {
  Deno.test(`send() refuses http://${address}/ where private targets are not allowed`, async () => {
    await using transport = openTransport({ privateTargets: false });
    const { origin } = new URL(`http://${address}`);
    assert.equal(await outcome(transport, { ...request(""), origin }), "blocked_address");
  });
}

for (const addresses of [["8.8.8.8", "127.0.0.1"], ["127.0.0.1", "8.8.8.8"], ["8.8.8.8", "::1"]]) {
  Deno.test(`send() dials none of [${addresses}], since one is refused`, async () => {
    await using sink = startSink();
    await using transport = openTransport({ privateTargets: false, resolve: named(...addresses) });
    const out = request(`app.test:${sink.port}`);
    assert.equal(await outcome(transport, out), "blocked_address");
    assert.equal(sink.connections, 0);
  });
}

Deno.test("send() dials the addresses it judged, and judges anew for every connection", async () => {
  await using sink = startSink({ after: "close" });
  const answers = [["127.0.0.1"], ["127.0.0.2"]];
  await using transport = openTransport({
    privateTargets: ["127.0.0.1"],
    resolve: () => Promise.resolve(answers.shift() ?? []),
  });
  const out = request(`app.test:${sink.port}`);
  assert.equal(await outcome(transport, out), 200);
  assert.equal(await outcome(transport, out), "blocked_address");
  assert.equal(sink.connections, 1);
});

Deno.test("send() reaches an IPv6 literal, with brackets in Host alone", async () => {
  await using sink = startSink({}, { hostname: "::1" });
  await using transport = openTransport({ privateTargets: ["::1/128"] });
  assert.equal(await outcome(transport, request(`[::1]:${sink.port}`)), 200);
  assert.equal(sink.requests[0].header("host"), `[::1]:${sink.port}`);
});

Deno.test("send() finds names of the hosts file", async () => {
  await using sink = startSink();
  await using transport = openTransport();
  assert.equal(await outcome(transport, request(`localhost:${sink.port}`)), 200);
});

Deno.test("send() calls a name that does not resolve dns", async () => {
  const failing = () => Promise.reject(new Error("getaddrinfo ENOTFOUND"));
  for (const resolve of [failing, named()]) {
    await using transport = openTransport({ resolve });
    assert.equal(await outcome(transport, request("nx.test")), "dns");
  }
});

Deno.test("send() calls a port without a listener refused", async () => {
  await using transport = openTransport();
  assert.equal(await outcome(transport, request(`127.0.0.1:${freePort()}`)), "refused");
});

Deno.test("send() goes on to the next address where the first is refused", async () => {
  await using sink = startSink();
  await using transport = openTransport({ resolve: named("::1", "127.0.0.1") });
  assert.equal(await outcome(transport, request(`app.test:${sink.port}`)), 200);
});

Deno.test("send() does not wait for an address that swallows packets", { ignore }, async () => {
  await using sink = startSink();
  using _ = await blackHole(sink.port);
  await using transport = openTransport({ resolve: named("::1", "127.0.0.1") });
  const answer = await transport.send(request(`app.test:${sink.port}`));
  assert.ok(answer.kind === "answer" && answer.ms < 3_000);
});

Deno.test("send() times out where every address swallows packets", { ignore }, async () => {
  const port = freePort();
  using _ = await blackHole(port);
  await using transport = openTransport();
  const out = request(`[::1]:${port}`, { timeoutMs: 100 });
  assert.equal(await outcome(transport, out), "timeout");
});

Deno.test("knock() tells whether somebody listens, without a request", async () => {
  await using sink = startSink();
  await using transport = openTransport();
  assert.equal(await transport.knock(`http://${sink.host}`, 5_000), true);
  assert.equal(await transport.knock(`http://127.0.0.1:${freePort()}`, 5_000), false);
  assert.equal(sink.requests.length, 0);
});

Deno.test(
  "knock() gives up after its time, and dials nothing that is refused",
  { ignore },
  async () => {
    await using sink = startSink();
    const port = freePort();
    using _ = await blackHole(port);
    await using open = openTransport();
    assert.equal(await open.knock(`http://[::1]:${port}`, 100), false);
    await using closed = openTransport({ privateTargets: false });
    assert.equal(await closed.knock(`http://${sink.host}`, 5_000), false);
    assert.equal(sink.connections, 0);
  },
);

const pem = (name: string) =>
  Deno.readTextFileSync(new URL(`../data/tls/${name}`, import.meta.url));

/** An HTTPS target whose certificate names `app.test` and 127.0.0.1. */
function secureTarget() {
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    cert: pem("app.test.pem"),
    key: pem("app.test.key"),
    onListen: () => {},
  }, () => new Response());
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

const TLS: [title: string, host: string, ca: string | undefined, expected: number | string][] = [
  ["trusts a certificate of a known root", "app.test", pem("ca.pem"), 200],
  ["trusts a certificate that names the address", "127.0.0.1", pem("ca.pem"), 200],
  ["refuses a certificate for another name", "other.test", pem("ca.pem"), "tls"],
  ["refuses a certificate of an unknown root", "app.test", undefined, "tls"],
];

for (const [title, host, ca, expected] of TLS) {
  Deno.test(`send() ${title}`, async () => {
    await using target = secureTarget();
    await using transport = openTransport({ resolve: named("127.0.0.1"), ca });
    const out = { ...request(""), origin: `https://${host}:${target.port}` };
    assert.equal(await outcome(transport, out), expected);
  });
}

Deno.test("send() calls a target that does not speak TLS tls", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answered = (async () => {
    using conn = await listener.accept();
    await conn.write(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const ignored = new Uint8Array(1_024);
    while (await conn.read(ignored) !== null);
  })();
  await using transport = openTransport();
  const out = { ...request(""), origin: `https://127.0.0.1:${listener.addr.port}` };
  assert.equal(await outcome(transport, out), "tls");
  await answered;
  listener.close();
});
