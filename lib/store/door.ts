import type { Delivery } from "../model.ts";
import { isOpen, mayMove } from "../states.ts";
import { dueValue, keys } from "./keys.ts";
import type { Store, StoredDelivery } from "./kv.ts";
import { activeMark } from "./relay_marks.ts";
import type { Count, Mutation, Write } from "./write.ts";

/** What a change may bring along in its commit: a lane's row, counters. */
export interface Extra {
  checks?: Deno.AtomicCheck[];
  mutations?: Mutation[];
  counts?: readonly Count[];
}

/**
 * The one write door: every change of a stored delivery passes here, checked against the
 * version it was read at. Due and dead entries follow from the two records, so an index
 * can never disagree with its record. A lost race is `false`.
 *
 * Rejects with `StoreUnavailable` when the outcome is unknown; throws on a transition
 * that the table of states does not have.
 */
export async function change(
  store: Store,
  before: StoredDelivery,
  after: Delivery,
  extra: Extra = {},
): Promise<StoredDelivery | false> {
  const result = await store.committer.commit(changeWrite(before, after, extra));
  return result.ok && { value: after, versionstamp: result.versionstamp };
}

function changeWrite(before: StoredDelivery, after: Delivery, extra: Extra): Write {
  const { value: old } = before;
  if (old.state !== after.state && !mayMove(old.state, after.state)) {
    throw new Error(
      `cannot change delivery ${old.id}: state is ${old.state}, not before ${after.state}`,
    );
  }
  const key = keys.delivery(old.endpoint, old.id);
  return {
    checks: [{ key, versionstamp: before.versionstamp }, ...(extra.checks ?? [])],
    mutations: [
      { type: "set", key, value: after },
      ...indexChanges(old, after),
      ...(extra.mutations ?? []),
    ],
    bytes: recordBytes(after) + (extra.mutations?.length ?? 0) * INDEX_VALUE_BYTES,
    counts: extra.counts,
  };
}

/** Due and dead entries that have to go or come when a record changes so. */
function indexChanges(old: Delivery, after: Delivery): Mutation[] {
  const changes: Mutation[] = [];
  const { endpoint, id } = old;
  if (old.dueAtMs !== after.dueAtMs || old.state !== after.state) {
    if (old.dueAtMs !== undefined) {
      changes.push({ type: "delete", key: keys.due(endpoint, old.dueAtMs, id) });
    }
    if (after.dueAtMs !== undefined) {
      const key = keys.due(endpoint, after.dueAtMs, id);
      changes.push({ type: "set", key, value: dueValue(after) });
      if (old.dueAtMs === undefined) changes.push(...activeMark(endpoint));
    }
  }
  if (after.state === "dead") {
    changes.push({
      type: "set",
      key: keys.dead(endpoint, id),
      value: { reason: after.reason, atMs: after.settledAtMs },
    });
  } else if (old.state === "dead") {
    changes.push({ type: "delete", key: keys.dead(endpoint, id) });
  }
  if (isOpen(after.state) !== (after.dueAtMs !== undefined)) {
    throw new Error(
      `cannot change delivery ${id}: state ${after.state} and its due entry do not belong together`,
    );
  }
  return changes;
}

const INDEX_VALUE_BYTES = 1_024;
const RECORD_BYTES = 640;
const ATTEMPT_BYTES = 160;

/** Estimated size of a stored record. */
export function recordBytes(delivery: Delivery): number {
  return RECORD_BYTES +
    3 * (delivery.path.length + delivery.query.length + delivery.eventId.length) +
    delivery.attempts.length * ATTEMPT_BYTES;
}

/** Reads one delivery, or `undefined`. */
export async function readDelivery(
  store: Store,
  endpoint: string,
  id: string,
): Promise<StoredDelivery | undefined> {
  const entry = await store.kv.get<Delivery>(keys.delivery(endpoint, id));
  return entry.value === null
    ? undefined
    : { value: entry.value, versionstamp: entry.versionstamp };
}
