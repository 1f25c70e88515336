import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";

/**
 * Counting ends here: 10,000 keys take about 0.1 s to scan, and nobody decides otherwise
 * at 10,000 than at 20,000.
 */
export const COUNTED_UP_TO = 10_000;

const BATCH = 500;

/** Open deliveries of one lane, of all processes. A full count is "at least". */
export interface OpenCount {
  pending: number;
  inFlight: number;
  /** Id of the oldest of those counted. */
  oldestId?: string;
}

/** Counts what is pending and in flight from the due index alone. */
export async function countOpen(store: Store, endpoint: string): Promise<OpenCount> {
  const count: OpenCount = { pending: 0, inFlight: 0 };
  const entries = store.kv.list<number>({ prefix: keys.dues(endpoint) }, {
    limit: COUNTED_UP_TO,
    batchSize: BATCH,
  });
  for await (const { key, value } of entries) {
    const id = String(key[3]);
    if (count.oldestId === undefined || id < count.oldestId) count.oldestId = id;
    if (value === 1) count.inFlight++;
    else count.pending++;
  }
  return count;
}

/** Dead deliveries of one lane. A full count is "at least". */
export interface DeadCount {
  dead: number;
  /** When the first of those counted died. */
  oldestAtMs?: number;
}

/** Counts the dead from their index. */
export async function countDead(store: Store, endpoint: string): Promise<DeadCount> {
  const count: DeadCount = { dead: 0 };
  const entries = store.kv.list<{ atMs?: number }>({ prefix: keys.deads(endpoint) }, {
    limit: COUNTED_UP_TO,
    batchSize: BATCH,
  });
  for await (const { value: { atMs } } of entries) {
    if (atMs !== undefined && (count.oldestAtMs ?? Infinity) > atMs) count.oldestAtMs = atMs;
    count.dead++;
  }
  return count;
}
