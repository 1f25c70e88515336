import type { Delivery } from "../../../lib/model.ts";
import { isOpen } from "../../../lib/states.ts";
import { keys } from "../../../lib/store/keys.ts";
import type { SentEvent } from "../posts.ts";
import type { Arrival } from "../targets.ts";
import { keptMs } from "./records.ts";
import { clocksStepped, recordsOf, type Scene } from "./scene.ts";

/** What has been seen over time and is needed at the end. */
export interface Ledger {
  events: Iterable<SentEvent>;
  /** Per delivery: times at which it was opened again by a replay or a revival. */
  reopenedAtMs: ReadonlyMap<string, readonly number[]>;
  /** Per counter name: how often it must have been counted. */
  counted: Readonly<Record<string, number>>;
}

/** Judges how it all ended. */
export function judgeOutcome(scene: Scene, endpoints: readonly string[], ledger: Ledger): void {
  const records = new Map(scene.pruned);
  for (const endpoint of endpoints) {
    for (const record of recordsOf(scene, endpoint)) records.set(record.id, record);
  }
  acceptedAreThere(scene, records, ledger);
  const stranded = strandedLanes(scene, records.values());
  for (const record of records.values()) {
    if (isOpen(record.state) && !stranded.has(record.endpoint)) {
      scene.violated("settled", `is still ${record.state}, due ${record.dueAtMs}`, record.id);
    }
    judgeArrivals(scene, record, ledger);
  }
  countersAreRight(scene, ledger);
}

function acceptedAreThere(
  { violated }: Scene,
  records: ReadonlyMap<string, Delivery>,
  { events }: Ledger,
): void {
  for (const { id, endpoint, answered, sha256 } of events) {
    for (const deliveryId of answered) {
      const record = records.get(deliveryId);
      if (record === undefined) {
        violated("missing", `${id} on ${endpoint} was accepted`, deliveryId);
      } else if (record.sha256 !== sha256) violated("bytes", "stored bytes differ", deliveryId);
    }
  }
}

const isYes = ({ status }: Arrival) => typeof status === "number" && status >= 200 && status < 300;

function judgeArrivals(scene: Scene, record: Delivery, ledger: Ledger): void {
  const { id, state, sha256, reason } = record;
  const arrivals = scene.targets.arrivals.filter((one) => one.deliveryId === id);
  for (const arrival of arrivals) {
    if (arrival.sha256 !== sha256) scene.violated("bytes", "the target got other bytes", id);
  }
  if (state === "delivered" && !arrivals.some(isYes)) {
    scene.violated("delivered", "is delivered, but no target took it", id);
  }
  const refused = ({ status }: Arrival) => typeof status === "number" && status >= 400;
  if (state === "dead" && reason === "rejected" && !arrivals.some(refused)) {
    scene.violated("dead", "is dead as rejected, but no target refused it", id);
  }
  if (state === "dead" && reason === "cancelled" && record.dueAtMs !== undefined) {
    scene.violated("due", "is cancelled with a due time", id);
  }
  duplicatesAreExplained(scene, id, arrivals.filter(isYes), ledger.reopenedAtMs.get(id) ?? []);
}

/** A target takes a delivery twice only after a crash, a lost answer or a store outage. */
function duplicatesAreExplained(
  scene: Scene,
  id: string,
  taken: readonly Arrival[],
  reopenedAtMs: readonly number[],
): void {
  for (const [index, later] of taken.entries()) {
    const before = taken.slice(0, index);
    const reopened = (from: number) => reopenedAtMs.some((at) => at >= from && at <= later.atMs);
    const unexplained = before.find((one) =>
      !reopened(one.atMs) && !isExplained(scene, one, later)
    );
    if (unexplained !== undefined) {
      scene.violated(
        "twice",
        `taken twice: attempt ${unexplained.attempt} and ${later.attempt}`,
        id,
      );
    }
  }
}

function isExplained(scene: Scene, { atMs, by, heard }: Arrival, later: Arrival): boolean {
  const { database, killedAtMs, plan } = scene;
  const killed = killedAtMs.get(by.name) ?? Infinity;
  const troubled = database.hadTrouble(by, atMs - plan.leaseMs - 10_000, later.atMs);
  return !heard || killed <= later.atMs || troubled || clocksStepped(scene);
}

function countersAreRight({ database, violated }: Scene, { counted }: Ledger): void {
  const sums: Record<string, number> = {};
  for (const { key, value } of database.rows.under(["stat"])) {
    const name = String(key[3]);
    sums[name] = (sums[name] ?? 0) + Number((value as Deno.KvU64).value);
  }
  for (const [name, n] of Object.entries(counted)) {
    if ((sums[name] ?? 0) !== n) violated("counters", `${name} is ${sums[name] ?? 0}, not ${n}`);
  }
}

/**
 * Lanes with the lease of a process that died while its clock was ahead. Where it counted
 * nothing by that clock, no other process can tell it from a wait, and it ends by its own time.
 */
function strandedLanes({ world, plan, steps, endedAtMs }: Scene, records: Iterable<Delivery>) {
  const latestMs = world.nowMs + plan.skewMs + plan.leaseMs;
  const isStranded = ({ state, lease, dueAtMs = 0 }: Delivery) =>
    state === "in_flight" && dueAtMs > latestMs && endedAtMs.has(lease?.owner ?? "");
  if (!steps.some(({ byMs }) => byMs > 0)) return new Set<string>();
  return new Set(Iterator.from(records).filter(isStranded).map(({ endpoint }) => endpoint));
}

/** What was answered with success is in the store at that moment. */
export function answerIsDurable(
  { database, pruned, violated }: Scene,
  { endpoint }: SentEvent,
  deliveryId: string,
): void {
  const stored = database.rows.peek(keys.delivery(endpoint, deliveryId)) !== undefined;
  if (!stored && !pruned.has(deliveryId)) {
    violated("durable", "answered before it was stored", deliveryId);
  }
}

/** Long after everything was settled: what is past its time is gone, and no lane is marked. */
export function judgePruned(scene: Scene, endpoints: readonly string[]): void {
  const { database, world, violated } = scene;
  for (const endpoint of endpoints) {
    for (const record of recordsOf(scene, endpoint)) {
      const ageMs = world.nowMs - (record.settledAtMs ?? world.nowMs);
      if (ageMs > keptMs(record) + PRUNE_MS) {
        violated("retention", `${record.state} is still there after ${ageMs} ms`, record.id);
      }
    }
  }
  for (const { key } of database.rows.under(keys.actives())) {
    violated("active", `${String(key[1])} is marked although nothing waits in it`);
  }
}

/** Housekeeping comes every five minutes (`lib/flow/housekeeping.ts`). */
const PRUNE_MS = 5 * 60_000 + 10_000;
/** When all that has a short retention must be gone. */
export const AFTERLIFE_MS = PRUNE_MS + 30_000;
