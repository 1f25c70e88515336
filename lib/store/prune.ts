import type { Delivery } from "../model.ts";
import { keys } from "./keys.ts";
import type { Store, StoredDelivery } from "./kv.ts";
import { leftOver } from "./staging.ts";

/** What may be deleted: `delivered` settled before the one time, `dead` before the other. */
export interface PruneCutoff {
  deliveredBeforeMs: number;
  /** `-Infinity` where the dead stay for ever. */
  deadBeforeMs: number;
}

/** Rows of one pass, so that pruning never holds the store for long. */
export const PRUNE_BATCH = 256;

/**
 * Deletes settled deliveries of one endpoint that are past their time, oldest first.
 * Looks at up to `PRUNE_BATCH` records behind `after` and returns where to go on, or
 * `undefined` at the end.
 */
export async function pruneDeliveries(
  store: Store,
  endpoint: string,
  cutoff: PruneCutoff,
  after?: string,
): Promise<string | undefined> {
  const prefix = keys.deliveries(endpoint);
  const selector = after === undefined
    ? { prefix }
    : { prefix, start: [...prefix, `${after}\u0000`] };
  const youngest = Math.max(cutoff.deliveredBeforeMs, cutoff.deadBeforeMs);
  let last: string | undefined;
  let seen = 0;
  for await (const entry of store.kv.list<Delivery>(selector, { limit: PRUNE_BATCH })) {
    const { value, versionstamp } = entry;
    if (value.acceptedAtMs >= youngest) return undefined;
    if (isPast(value, cutoff)) await remove(store, { value, versionstamp });
    last = value.id;
    seen++;
  }
  return seen < PRUNE_BATCH ? undefined : last;
}

function isPast({ state, settledAtMs = Infinity }: Delivery, cutoff: PruneCutoff): boolean {
  if (state === "delivered") return settledAtMs < cutoff.deliveredBeforeMs;
  return state === "dead" && settledAtMs < cutoff.deadBeforeMs;
}

/** Rows deleted with the record in one commit; a body of more is left to the sweep of stagings. */
const ROWS_A_COMMIT = 500;

/**
 * Deletes a settled delivery with its payload, unless it has changed: nothing goes before the
 * commit that knows. What remains of a large body is marked there as if it had been staged.
 */
async function remove(store: Store, { value, versionstamp }: StoredDelivery): Promise<void> {
  const { endpoint, id, chunks } = value;
  const key = keys.delivery(endpoint, id);
  const operation = store.kv.atomic().check({ key, versionstamp }).delete(key).delete(
    keys.dead(endpoint, id),
  );
  for (let row = 0; row < Math.min(chunks, ROWS_A_COMMIT); row++) {
    operation.delete(keys.payload(id, row));
  }
  if (chunks > ROWS_A_COMMIT) {
    const { key, mark } = leftOver(store, id);
    operation.set(key, mark);
  }
  await operation.commit();
}

/** Deletes counters of an endpoint from before `minute`. Returns whether more are left. */
export async function pruneStats(store: Store, endpoint: string, minute: number): Promise<boolean> {
  const prefix = keys.stats(endpoint);
  const operation = store.kv.atomic();
  let seen = 0;
  for await (
    const entry of store.kv.list({ start: prefix, end: [...prefix, minute] }, {
      limit: PRUNE_BATCH,
    })
  ) {
    operation.delete(entry.key);
    seen++;
  }
  if (seen > 0) await operation.commit();
  return seen === PRUNE_BATCH;
}
