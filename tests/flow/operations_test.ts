import assert from "node:assert/strict";
import { monotonicFactory } from "ulid";
import { parseConfig } from "../../lib/config.ts";
import { createRelay, type Relay } from "../../lib/flow/relay.ts";
import { createTransport } from "../../lib/flow/transport.ts";
import { Committer } from "../../lib/store/commit.ts";
import { PROVIDERS, senderFor } from "../../lib/verify/sender.ts";
import { handleHook } from "../../routes/ingest.ts";
import { TestClock } from "../helpers/clock.ts";
import { CountingKv, type Figures } from "../helpers/counting_kv.ts";
import { type Sink, startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

const KIB = 1_024;

/** A relay in this process on a real store that counts. */
async function withRelay(
  run: (parts: { relay: Relay; sink: Sink; counting: CountingKv }) => Promise<void>,
): Promise<void> {
  using clock = new TestClock();
  using kv = await Deno.openKv(":memory:");
  await using sink = startSink();
  const counting = new CountingKv(kv);
  const retry = { schedule: ["10ms"] };
  const config = parseConfig({
    env: {
      ENDPOINTS: JSON.stringify([{ id: "demo", targetUrl: sink.url(), retry, breaker: false }]),
      ALLOW_PRIVATE_TARGETS: "127.0.0.1",
      SCHEDULER: "sweep",
    },
    endpointsFile: undefined,
    providers: PROVIDERS,
    defaultHost: "127.0.0.1",
  });
  assert(!("faults" in config));
  const transport = createTransport({ privateTargets: config.privateTargets, clock });
  const relay = createRelay({
    config,
    store: { kv: counting.kv, committer: new Committer(counting.kv, clock), clock },
    transport,
    senderOf: (id) => senderFor(config.endpoints.get(id)!),
    fingerprintOf: (url) => url,
    clock,
    random: () => 0,
    nextId: monotonicFactory(),
    owner: "one",
    observe: () => {},
    log: () => {},
  });
  try {
    await run({ relay, sink, counting });
  } finally {
    await relay.stop();
  }
}

async function post(relay: Relay, eventId: string, bytes: number): Promise<void> {
  const body = new Uint8Array(bytes).fill(65);
  const response = await handleHook(
    relay,
    new Request("http://127.0.0.1/hook/demo", {
      method: "POST",
      headers: { "x-event-id": eventId, "content-length": String(bytes) },
      body,
    }),
    { hostname: "127.0.0.1" },
  );
  const answer = await response.text();
  assert(response.ok, answer);
}

/** What the page says each row costs: commits, writes, reads. */
function said(): Map<string, number[]> {
  const page = Deno.readTextFileSync(new URL("../../docs/performance.md", import.meta.url));
  const rows = page.matchAll(/^\| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \|$/gm);
  return new Map(Array.from(rows, ([, what, ...figures]) => [what, figures.map(Number)]));
}

const ROWS: [what: string, eventId: string, bytes: number, statuses: number[]][] = [
  ["accepted and delivered at once, 2 KiB", "a", 2 * KIB, [200]],
  ["the same with 150 KiB", "b", 150 * KIB, [200]],
  ["the same with 2 MiB, more than one commit takes", "c", 2 * KIB * KIB, [200]],
  ["one attempt in vain, then delivered", "d", 2 * KIB, [500, 200]],
  ["refused by the target: dead", "e", 2 * KIB, [404]],
  ["a duplicate", "a", 2 * KIB, []],
];

Deno.test("a delivery costs the store what the page on performance says", async () => {
  await withRelay(async ({ relay, sink, counting }) => {
    const table = said();
    await post(relay, "first", 1);
    await until(() => relay.work.inFlight === 0, { what: "the lane to be known" });
    for (const [what, eventId, bytes, statuses] of ROWS) {
      const row = table.get(what);
      assert(row !== undefined, `the page has no row for: ${what}`);
      counting.take();
      const before = sink.requests.length;
      sink.script = (_request, index) => ({ status: statuses[index - before] });
      await post(relay, eventId, bytes);
      await until(() => sink.requests.length === before + statuses.length, { what });
      await until(() => relay.work.inFlight === 0 && counting.writes >= row[1], { what });
      await relay.drain.whenQuiet();
      agree(what, row, counting.take());
    }
    const look = "a look at a lane that has nothing to do";
    relay.schedule.wakeAll();
    await relay.drain.whenQuiet();
    agree(look, table.get(look) ?? [], counting.take());
  });
});

/** Commits that meet are shared, and a lane's row is read again after a second. */
function agree(what: string, [commits, writes, reads]: number[], figures: Figures): void {
  const told = `${what}: ${JSON.stringify(figures)}`;
  assert.equal(figures.writes, writes, told);
  assert(figures.commits <= commits, told);
  assert(figures.reads === reads || figures.reads === reads + 1, told);
}
