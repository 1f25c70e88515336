import type { Delivery } from "../model.ts";
import { type DueEntry, dueEntry, keys } from "./keys.ts";
import type { Store, StoredDelivery } from "./kv.ts";
import { secondParts } from "./list.ts";
import { readRows } from "./rows.ts";

/** The lane's due entries from the oldest on, up to and including `untilMs`. */
export function dueUntil(
  store: Store,
  endpoint: string,
  untilMs: number,
  limit: number,
): Promise<DueEntry[]> {
  return collect(
    store,
    { start: keys.dues(endpoint), end: keys.dueBefore(endpoint, untilMs + 1) },
    limit,
  );
}

/** The lane's due entries after `afterMs`, soonest first. */
export function dueAfter(
  store: Store,
  endpoint: string,
  afterMs: number,
  limit: number,
): Promise<DueEntry[]> {
  return collect(store, {
    prefix: keys.dues(endpoint),
    start: keys.dueBefore(endpoint, afterMs + 1),
  }, limit);
}

/** The lane's due entries behind the place of `entry`, soonest first. */
export function dueBehind(
  store: Store,
  { endpoint, dueAtMs, id }: DueEntry,
  limit: number,
): Promise<DueEntry[]> {
  return collect(store, {
    prefix: keys.dues(endpoint),
    start: keys.due(endpoint, dueAtMs, `${id}\u0000`),
  }, limit);
}

async function collect(
  store: Store,
  selector: Deno.KvListSelector,
  limit: number,
): Promise<DueEntry[]> {
  const found: DueEntry[] = [];
  const batchSize = Math.min(limit, 500);
  for await (const entry of store.kv.list(selector, { limit, batchSize })) {
    found.push(dueEntry(entry.key));
  }
  return found;
}

/** Reads the records of one lane's due entries, in their order; a missing one is `undefined`. */
export async function readDue(
  store: Store,
  entries: readonly DueEntry[],
): Promise<(StoredDelivery | undefined)[]> {
  if (entries.length === 0) return [];
  const tails = entries.map(({ id }): Deno.KvKey => [id]);
  const inOrder = tails.toSorted(([a], [b]) => String(a) < String(b) ? -1 : 1);
  const rows = await readRows<Delivery>(store.kv, keys.deliveries(entries[0].endpoint), inOrder);
  return tails.map((tail) => rows.get(tail));
}

/**
 * Removes a due entry that the record, as it was read, does not stand for: a replay may have
 * written it anew since. Only the drain finds such.
 */
export async function dropDue(
  store: Store,
  { endpoint, dueAtMs, id }: DueEntry,
  record: StoredDelivery | undefined,
): Promise<void> {
  const check = { key: keys.delivery(endpoint, id), versionstamp: record?.versionstamp ?? null };
  const key = keys.due(endpoint, dueAtMs, id);
  await store.committer.commit({ checks: [check], mutations: [{ type: "delete", key }], bytes: 0 });
}

/** Names of all lanes that have a due entry, those of removed endpoints too. */
export async function lanesWithDue(store: Store): Promise<string[]> {
  return await secondParts(store, keys.allDues());
}
