import { monotonicFactory } from "ulid";
import { z } from "zod";
import { clock } from "../../lib/boot/clock.ts";
import type { Endpoint } from "../../lib/endpoint.ts";
import { afterWrites } from "../../lib/boot/after_writes.ts";
import { createRelay, type Relay } from "../../lib/flow/relay.ts";
import { relayEndpoint } from "../../lib/flow/relay_lanes.ts";
import { createTransport } from "../../lib/flow/transport.ts";
import type { Delivery } from "../../lib/model.ts";
import { relayVariables, toRelaySettings } from "../../lib/relay_settings.ts";
import { accept } from "../../lib/store/accept.ts";
import { dropActive } from "../../lib/store/active.ts";
import { Committer } from "../../lib/store/commit.ts";
import { change } from "../../lib/store/door.ts";
import type { Store } from "../../lib/store/kv.ts";
import { targetMark } from "../../lib/store/relay_marks.ts";
import { median, shown } from "../numbers.ts";
import type { Options } from "../options.ts";
import type { Report } from "../report.ts";
import { inFolder } from "../workspace.ts";

const BUSY_LANES = 10;
const IDLE_LANES = [10, 10_000];
const SWEEPS = 50;
/** Lanes stored side by side. */
const GROUP = 200;
const HOUR_MS = 3_600_000;

const settings = toRelaySettings(
  z.object(relayVariables).parse({ RELAY_TARGETS: "https://relay.invalid" }),
)!;

/** One sweep of relay mode with few and with many lanes that have nothing to do. */
export async function lanes(_options: Options): Promise<Report> {
  const times: number[] = [];
  for (const idle of IDLE_LANES) times.push(await inFolder((folder) => sweepMs(folder, idle)));
  const [few, many] = IDLE_LANES.map(shown);
  return {
    title: `A sweep of relay mode, ${BUSY_LANES} lanes with work`,
    columns: ["idle lanes", "sweep ms"],
    rows: IDLE_LANES.map((idle, at) => [shown(idle), shown(times[at])]),
    verdicts: [{
      what: `sweep with ${many} idle lanes against ${few}`,
      value: times[1] / times[0],
      bound: "≤",
      target: 2,
      unit: "×",
    }],
  };
}

/** Median time of a sweep: all that is woken has been looked at. */
async function sweepMs(folder: string, idle: number): Promise<number> {
  const kv = await Deno.openKv(`${folder}/relay.db`);
  const store = { kv, clock, committer: new Committer(kv, clock) };
  await fill(store, idle);
  const relay = relayOn(store);
  const timesMs: number[] = [];
  for (let n = 0; n <= SWEEPS; n++) {
    const sinceMs = performance.now();
    relay.schedule.wakeAll();
    await relay.relayLanes.look();
    await relay.drain.whenQuiet();
    // The first one reads the lanes in.
    if (n > 0) timesMs.push(performance.now() - sinceMs);
  }
  await relay.stop();
  kv.close();
  return median(timesMs);
}

function relayOn(store: Store): Relay {
  return createRelay({
    config: {
      endpoints: new Map(),
      leaseMs: 60_000,
      scheduler: "sweep",
      github: { apiUrl: "http://github.invalid", graceMs: 0, intervalMs: HOUR_MS },
      relay: settings,
    },
    store,
    transport: createTransport({ privateTargets: false, clock }),
    senderOf: (endpoint) => {
      throw new Error(`cannot tell the sender: ${endpoint} is not configured`);
    },
    fingerprintOf: (targetUrl) => targetUrl,
    clock,
    afterWrites,
    random: Math.random,
    nextId: monotonicFactory(),
    owner: "bench",
    observe: () => {},
    log: () => {},
  });
}

/** Lanes that wait for an hour to pass, and idle ones that delivered something once. */
async function fill(store: Store, idle: number): Promise<void> {
  for (let at = 0; at < BUSY_LANES + idle; at += GROUP) {
    const size = Math.min(GROUP, BUSY_LANES + idle - at);
    const targets = Array.from({ length: size }, (_, n) => `https://relay.invalid/${at + n}`);
    await Promise.all(targets.map((target, n) => fillLane(store, target, at + n < BUSY_LANES)));
  }
}

async function fillLane(store: Store, target: string, busy: boolean): Promise<void> {
  const endpoint = relayEndpoint(settings, target)!;
  const delivery = deliveryOf(endpoint, Date.now());
  const rows = targetMark(endpoint);
  const stored = await accept(store, { delivery, rows, rowBytes: target.length });
  if (stored === false) throw new Error(`cannot fill ${target}: its delivery was not stored`);
  if (busy) return;
  const claimed = await change(store, stored, { ...delivery, state: "in_flight" });
  if (claimed === false) throw new Error(`cannot fill ${target}: its delivery was not claimed`);
  const { dueAtMs: _, ...settled } = delivery;
  await change(store, claimed, { ...settled, state: "delivered", settledAtMs: Date.now() });
  await dropActive(store, endpoint.id);
}

const nextId = monotonicFactory();

function deliveryOf({ id: endpoint }: Endpoint, nowMs: number): Delivery {
  const id = nextId(nowMs);
  return {
    ...{ id, endpoint, eventId: id, state: "pending", dueAtMs: nowMs + HOUR_MS },
    ...{ method: "POST", path: "", query: "", bytes: 0, chunks: 1, sha256: "" },
    acceptedAtMs: nowMs,
    attemptCount: 0,
    attempts: [],
    replays: 0,
    round: { attemptsBefore: 0, refunds: 0 },
  };
}
