import assert from "node:assert/strict";
import { bringUp } from "../../lib/store/migrate.ts";
import type { Figures } from "../helpers/counting_kv.ts";
import { ADMIN_TOKEN } from "../helpers/program.ts";
import { until } from "../helpers/wait.ts";
import { type CountedRelay, CountedRelays } from "./counted_relay.ts";

const KIB = 1_024;

async function post({ ask }: CountedRelay, eventId: string, bytes: number): Promise<void> {
  const response = await ask("/hook/demo-1", {
    method: "POST",
    headers: { "x-event-id": eventId, "content-length": String(bytes) },
    body: new Uint8Array(bytes).fill(65),
  });
  const answer = await response.text();
  assert(response.ok, answer);
}

/** The figures behind each row's name on the page. */
function said(): Map<string, number[]> {
  const page = Deno.readTextFileSync(new URL("../../docs/performance.md", import.meta.url));
  const rows = page.matchAll(/^\| ([^|]+) ((?:\| \d+ )+)\|$/gm);
  return new Map(
    Array.from(rows, ([, what, figures]) => [what, Array.from(figures.matchAll(/\d+/g), Number)]),
  );
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
  await using relays = await CountedRelays.open(["demo-1"]);
  const { counting, sink } = relays;
  const counted = relays.make();
  const { relay } = counted;
  const table = said();
  await post(counted, "first", 1);
  await until(() => relay.work.inFlight === 0, { what: "the lane to be known" });
  for (const [what, eventId, bytes, statuses] of ROWS) {
    const row = table.get(what);
    assert(row !== undefined, `the page has no row for: ${what}`);
    counting.take();
    const before = sink.requests.length;
    sink.script = (_request, index) => ({ status: statuses[index - before] });
    await post(counted, eventId, bytes);
    await until(() => sink.requests.length === before + statuses.length, { what });
    await until(() => relay.work.inFlight === 0 && counting.writes >= row[1], { what });
    await relay.drain.whenQuiet();
    agree(what, row, counting.take());
  }
});

/** Commits that meet are shared; a lane's row, and whether somebody listens, is read each second. */
function agree(what: string, [commits, writes, reads]: number[], figures: Figures): void {
  const told = `${what}: ${JSON.stringify(figures)}`;
  assert.equal(figures.writes, writes, told);
  assert(figures.commits <= commits, told);
  assert(figures.reads >= reads && figures.reads <= reads + 2, told);
}

const DELIVERIES = 50;

/** What is done by itself, or by a look at a page, and which row tells of it. */
function deeds(relays: CountedRelays, counted: CountedRelay, cookie: string, id: string) {
  const { relay, ask } = counted;
  const look = (path: string, headers: Record<string, string>) => async () => {
    const response = await ask(path, { headers });
    const text = await response.text();
    assert.equal(response.status, 200, `${path}: ${text.slice(0, 200)}`);
  };
  const page = (path: string) => look(path, { cookie, accept: "text/html" });
  const api = (path: string) => look(path, { authorization: `Bearer ${ADMIN_TOKEN}` });
  const deeds: [what: string, run: () => unknown][] = [
    ["a start", () => start(relays)],
    ["a look at all lanes, each minute", () => {
      relay.schedule.wakeAll();
      return relay.drain.whenQuiet();
    }],
    ["what is past its time, each 5 minutes", () => relay.housekeeping.pass()],
    ["the overview", page("/admin")],
    ["50 deliveries in the list", page("/admin/deliveries")],
    ["one delivery's page", page(`/admin/deliveries/${id}`)],
    ["`/api/v1/status`", api("/api/v1/status")],
    ["`/metrics`", api("/metrics")],
    ["`/readyz`", look("/readyz", {})],
    // The last one: it sets a timer for the next look.
    ["a look for replay jobs, each 15 s", () => relay.jobs.look()],
  ];
  return deeds;
}

/** Another process on the same store. */
async function start(relays: CountedRelays): Promise<void> {
  const { relay } = relays.make();
  assert.equal(await bringUp(relay.store, () => {}), undefined);
  relay.start();
  await relay.drain.whenQuiet();
  await relay.stop();
}

async function signIn({ ask }: CountedRelay): Promise<string> {
  const { headers, status } = await ask("/admin/sign-in", {
    method: "POST",
    headers: { origin: "http://127.0.0.1" },
    body: new URLSearchParams({ token: ADMIN_TOKEN }),
  });
  assert.equal(status, 303);
  return headers.get("set-cookie")!.split(";")[0];
}

/** Calls of the store until nothing more is asked. */
async function callsOf({ counting }: CountedRelays, run: () => unknown): Promise<number> {
  counting.take();
  await run();
  let calls = 0;
  for (let more = -1; more !== 0; calls += more) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    more = counting.take().calls;
  }
  return calls;
}

for (const [column, count] of [1, 5].entries()) {
  Deno.test(`what is asked by itself or by a page's view, with ${count} endpoints`, async () => {
    const endpoints = Array.from({ length: count }, (_, n) => `demo-${n + 1}`);
    await using relays = await CountedRelays.open(endpoints);
    await start(relays);
    const counted = relays.make();
    for (let n = 0; n < DELIVERIES; n++) await post(counted, `${n}`, 2 * KIB);
    await until(() => relays.sink.requests.length === DELIVERIES, { what: "all to be delivered" });
    await until(() => counted.relay.work.inFlight === 0, { what: "all to be settled" });
    const cookie = await signIn(counted);
    const id = relays.sink.requests[0].header("holdfast-delivery-id")!;
    // A process's first look asks more, as a part of its start.
    counted.relay.schedule.wakeAll();
    await callsOf(relays, () => new Promise((resolve) => setTimeout(resolve, 1_500)));
    const found: Record<string, number> = {};
    const table = said();
    const wanted: typeof found = {};
    for (const [what, run] of deeds(relays, counted, cookie, id)) {
      found[what] = await callsOf(relays, run);
      wanted[what] = table.get(what)?.[column] ?? NaN;
    }
    assert.deepEqual(found, wanted);
  });
}
