import { LIMITS } from "../limits.ts";
import type { Delivery } from "../model.ts";
import { isOpen } from "../states.ts";
import { dueEntry, keys } from "./keys.ts";
import type { Kv } from "./kv.ts";
import { readSchema, SCHEMA } from "./schema.ts";
import { minuteOf } from "./write.ts";

/** What each broken invariant means, and what to do about it. */
export const REPAIRS = {
  due_missing:
    "the delivery would never be tried again: cancel and replay it, or delete its record if it is settled elsewhere",
  due_orphan: "nothing: the drain removes it when it comes due",
  due_stale: "nothing while the record has a due entry of its own; else cancel and replay it",
  lease_lapsed: "start the relay, or look why it does not drain: the delivery is taken over then",
  dead_missing: "replay the delivery, or have it die again: the list of the dead does not show it",
  dead_orphan: "delete the key: the delivery is not dead",
  payload_missing: "ask the sender to send the event again: its body is gone",
  payload_incomplete: "ask the sender to send the event again: its body is not whole",
  payload_orphan: "delete the keys: no delivery owns them",
  staging_old: "start the relay: housekeeping drops it within five minutes",
  schema_other:
    "start the relay: it brings an older store to its format; to a newer one ask the doctor of the release that wrote it",
  counter_low: "nothing: figures of that minute are too low, no delivery is touched",
} as const;

export type ComplaintCode = keyof typeof REPAIRS;

/** One broken invariant of the store. */
export interface Complaint {
  code: ComplaintCode;
  key: Deno.KvKey;
  detail: string;
}

type Reads = Pick<Kv, "get" | "getMany" | "list">;

/** Lapsed leases and old stagings are taken care of within a sweep and a pass of housekeeping. */
const PATIENCE_MS = 10 * 60_000;
/** Records looked at side by side. */
const GROUP = 32;

/**
 * Reads the whole store and tells every broken invariant. A suspicion is looked at again in
 * one snapshot before it is told, so a busy relay may run meanwhile.
 */
export async function* examine(kv: Reads, nowMs: number): AsyncGenerator<Complaint> {
  const { version } = await readSchema(kv);
  if (version !== SCHEMA) {
    // What follows means something in one format only.
    const detail = `it is format ${version}, this program knows ${SCHEMA}`;
    return yield { code: "schema_other", key: keys.schema(), detail };
  }
  yield* examineRecords(kv, nowMs);
  yield* examineDue(kv);
  yield* examineDead(kv);
  yield* examinePayloads(kv);
  yield* examineStagings(kv, nowMs);
}

async function* examineRecords(kv: Reads, nowMs: number): AsyncGenerator<Complaint> {
  const accepted = new Map<string, { endpoint: string; minute: number; n: number }>();
  let group: Promise<Complaint[]>[] = [];
  for await (const { value } of kv.list<Delivery>({ prefix: keys.allDeliveries() })) {
    countIn(accepted, value);
    group.push(examineRecord(kv, value.endpoint, value.id, nowMs));
    if (group.length < GROUP) continue;
    yield* (await Promise.all(group)).flat();
    group = [];
  }
  yield* (await Promise.all(group)).flat();
  yield* examineCounters(kv, accepted, nowMs);
}

/** A record with all that belongs to it, read in one snapshot. */
async function examineRecord(
  kv: Reads,
  endpoint: string,
  id: string,
  nowMs: number,
): Promise<Complaint[]> {
  const key = keys.delivery(endpoint, id);
  for (;;) {
    const known = await kv.get<Delivery>(key);
    if (known.value === null) return [];
    const [now, due, dead, head] = await kv.getMany<[Delivery, number, object, object]>([
      key,
      keys.due(endpoint, known.value.dueAtMs ?? 0, id),
      keys.dead(endpoint, id),
      keys.payload(id, 0),
    ]);
    if (now.versionstamp !== known.versionstamp) continue;
    const has = { due: due.value !== null, dead: dead.value !== null, head: head.value !== null };
    return faultsOf(known.value, has, nowMs).map((code) => {
      return { code, key, detail: `state is ${known.value.state}` };
    });
  }
}

function faultsOf(
  { state, dueAtMs }: Delivery,
  has: { due: boolean; dead: boolean; head: boolean },
  nowMs: number,
): ComplaintCode[] {
  const faults: ComplaintCode[] = [];
  if (isOpen(state) && (dueAtMs === undefined || !has.due)) faults.push("due_missing");
  if (state === "in_flight" && (dueAtMs ?? 0) < nowMs - PATIENCE_MS) faults.push("lease_lapsed");
  if (state === "dead" && !has.dead) faults.push("dead_missing");
  if (!has.head) faults.push("payload_missing");
  return faults;
}

async function* examineDue(kv: Reads): AsyncGenerator<Complaint> {
  for await (const { key } of kv.list({ prefix: keys.allDues() })) {
    const { endpoint, dueAtMs, id } = dueEntry(key);
    const [due, record] = await kv.getMany<[number, Delivery]>([key, keys.delivery(endpoint, id)]);
    if (due.versionstamp === null) continue;
    if (record.value === null) yield { code: "due_orphan", key, detail: "there is no record" };
    else if (record.value.dueAtMs !== dueAtMs) {
      const detail = `state is ${record.value.state}, due time is ${
        record.value.dueAtMs ?? "none"
      }`;
      yield { code: isOpen(record.value.state) ? "due_stale" : "due_orphan", key, detail };
    }
  }
}

async function* examineDead(kv: Reads): AsyncGenerator<Complaint> {
  for await (const { key } of kv.list({ prefix: keys.allDeads() })) {
    const [, endpoint, id] = key.map(String);
    const [dead, record] = await kv.getMany<[object, Delivery]>([key, keys.delivery(endpoint, id)]);
    if (dead.versionstamp === null || record.value?.state === "dead") continue;
    yield { code: "dead_orphan", key, detail: `state is ${record.value?.state ?? "no record"}` };
  }
}

async function* examinePayloads(kv: Reads): AsyncGenerator<Complaint> {
  let id: string | undefined;
  let rows = 0;
  for await (const { key } of kv.list({ prefix: keys.allPayloads() }, { batchSize: 16 })) {
    const next = String(key[1]);
    if (id !== undefined && next !== id) yield* examinePayload(kv, id, rows);
    rows = next === id ? rows + 1 : 1;
    id = next;
  }
  if (id !== undefined) yield* examinePayload(kv, id, rows);
}

/** Rows of one id: a delivery's whole payload, or what a staging has so far. */
async function* examinePayload(kv: Reads, id: string, rows: number): AsyncGenerator<Complaint> {
  const key = keys.payloads(id);
  const [head, staging] = await kv.getMany<[{ endpoint: string }, object]>([
    keys.payload(id, 0),
    keys.staging(id),
  ]);
  if (head.value === null) {
    // Gone by now, or on its way in: only what lies there without a mark has no owner.
    if (staging.value === null && await anyRow(kv, id)) {
      yield { code: "payload_orphan", key, detail: `${rows} rows without a first one` };
    }
    return;
  }
  const recordKey = keys.delivery(head.value.endpoint, id);
  const [record, still] = await kv.getMany<[Delivery, object]>([recordKey, keys.payload(id, 0)]);
  if (still.value === null) return;
  if (record.value === null) yield { code: "payload_orphan", key, detail: "there is no record" };
  else if (record.value.chunks > rows) {
    const detail = `${rows} of ${record.value.chunks} rows are there`;
    yield { code: "payload_incomplete", key: recordKey, detail };
  }
}

async function anyRow(kv: Reads, id: string): Promise<boolean> {
  const first = await kv.list({ prefix: keys.payloads(id) }, { limit: 1 }).next();
  return first.done !== true && first.value.key[2] !== 0;
}

async function* examineStagings(kv: Reads, nowMs: number): AsyncGenerator<Complaint> {
  for await (const { key, value } of kv.list<{ atMs: number }>({ prefix: keys.stagings() })) {
    if (value.atMs > nowMs - LIMITS.stagingMs - PATIENCE_MS) continue;
    yield { code: "staging_old", key, detail: `it was begun ${nowMs - value.atMs} ms ago` };
  }
}

function countIn(
  accepted: Map<string, { endpoint: string; minute: number; n: number }>,
  { endpoint, acceptedAtMs }: Delivery,
): void {
  const minute = minuteOf(acceptedAtMs);
  const name = `${endpoint}/${minute}`;
  const one = accepted.get(name);
  if (one === undefined) accepted.set(name, { endpoint, minute, n: 1 });
  else one.n++;
}

/** A counter is written with its record, so none is below what lies there. */
async function* examineCounters(
  kv: Reads,
  accepted: ReadonlyMap<string, { endpoint: string; minute: number; n: number }>,
  nowMs: number,
): AsyncGenerator<Complaint> {
  const oldest = minuteOf(nowMs - LIMITS.statMs + 2 * PATIENCE_MS);
  for (const { endpoint, minute, n } of accepted.values()) {
    if (minute < oldest) continue;
    const key = keys.stat(endpoint, minute, "accepted");
    const counted = Number((await kv.get<Deno.KvU64>(key)).value?.value ?? 0);
    if (counted < n) yield { code: "counter_low", key, detail: `it is ${counted}, not ${n}` };
  }
}
