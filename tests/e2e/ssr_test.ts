import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { group, test } from "../helpers/group.ts";
import { allDeliveries, reached } from "../helpers/operator.ts";
import { accept, type PostOptions } from "../helpers/post.ts";
import { freePort } from "../helpers/ports.ts";
import { type Relay, runToExit, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

/** Spellings of addresses that must never be dialled; a port follows where T listens. */
const REFUSED = [
  "127.0.0.1",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "127.1",
  "0",
  "0.0.0.0",
  "localhost",
  "[::]",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:a9fe:a9fe]",
  "[::FFFF:10.0.0.1]",
  "[64:ff9b::7f00:1]",
  "10.0.0.1",
  "100.64.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "192.168.0.1",
  "[fd00::1]",
  "[fe80::1]",
  "224.0.0.1",
];

group("private addresses", async (behaviour) => {
  await using v4 = startSink({});
  await using v6 = startSink({}, { hostname: "::1" });
  const endpoints = REFUSED.map((host, n) => {
    const { port } = host === "[::1]" ? v6 : v4;
    return endpoint(`e${n}`, `http://${host}:${port}/in`, { retry: { schedule: [] } });
  });
  await using relay = await startRelay({ endpoints, env: { ALLOW_PRIVATE_TARGETS: "0" } });

  for (const [n, host] of REFUSED.entries()) {
    await behaviour(`${host} is never connected to`, async () => {
      const { deliveryId } = await accept(relay, `e${n}`);
      const { attempts } = await reached(relay, deliveryId, "dead");
      assert.deepEqual(attempts.map(({ code }) => code), ["blocked_address"]);
      assert.equal(v4.connections + v6.connections, 0);
    });
  }
});

/** Waits until no delivery of these relays is on its way. */
async function atRest(...relays: Relay[]): Promise<number> {
  let count = 0;
  await until(async () => {
    const all = (await Promise.all(relays.map((relay) => allDeliveries(relay, "")))).flat();
    count = all.length;
    return all.every(({ state }) => state === "delivered" || state === "dead");
  }, { what: "all deliveries to settle", withinMs: 20_000 });
  return count;
}

test("a target that is the relay itself is stopped after three hops", async () => {
  const port = freePort();
  await using relay = await startRelay({
    endpoints: [endpoint("loop", `http://127.0.0.1:${port}/hook/loop`, { dedup: "off" })],
    env: { PORT: String(port) },
  });
  await accept(relay, "loop");
  const count = await atRest(relay);
  assert(count <= 4, `${count} deliveries were stored`);
  const [last, ...others] = await allDeliveries(relay, "");
  assert.equal(last.state, "dead");
  assert.equal(last.attempts.at(-1)?.status, 508);
  assert(others.every(({ state }) => state === "delivered"));
});

group("two relays that point at each other", async (behaviour) => {
  const [portA, portB] = [freePort(), freePort()];
  const ring = (port: number) => [
    endpoint("x", `http://127.0.0.1:${port}/hook/x`, { dedup: "off" }),
  ];
  await using a = await startRelay({ endpoints: ring(portB), env: { PORT: String(portA) } });
  await using b = await startRelay({ endpoints: ring(portA), env: { PORT: String(portB) } });

  const forged: [what: string, headers: PostOptions["headers"]][] = [
    ["an ordinary post", {}],
    ["a post that claims zero hops", { "holdfast-hops": "0" }],
    ["a post that claims a negative number of hops", { "holdfast-hops": "-5" }],
    ["a post with two counts", { "holdfast-hops": ["0", "-5"] }],
  ];
  for (const [what, headers] of forged) {
    await behaviour(`${what} stops at the hop limit`, async () => {
      const before = await atRest(a, b);
      const response = await fetch(`${a.origin}/hook/x`, {
        method: "POST",
        body: what,
        headers: Object.entries(headers ?? {}).flatMap(([name, value]) =>
          [value].flat().map((one): [string, string] => [name, one])
        ),
      });
      await response.body?.cancel();
      assert(response.status === 202 || response.status === 508, `answered ${response.status}`);
      const stored = await atRest(a, b) - before;
      assert(stored <= 4, `${stored} deliveries were stored`);
    });
  }
});

test("credentials in a target stop the start and stay out of the message", async () => {
  const { code, output } = await runToExit({
    endpoints: [endpoint("demo", "http://bob:s3cr3t@127.0.0.1:9000/in")],
  });
  assert.equal(code, 1);
  assert.match(output, /"demo"|demo/);
  assert.match(output, /targetUrl/);
  assert.doesNotMatch(output, /bob|s3cr3t/);
});
