import { isRelayLane } from "../ids.ts";
import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";

/**
 * Counting ends here: 10,000 keys take about 0.1 s to scan, and nobody decides otherwise
 * at 10,000 than at 20,000.
 */
export const COUNTED_UP_TO = 10_000;

const BATCH = 500;

/** Stands for all lanes of relay mode together, where a lane's name would stand. */
export const RELAY_LANES = Symbol("relay lanes");

/** A lane, or those of relay mode. */
export type Counted = string | typeof RELAY_LANES;

/** Open deliveries of one lane, of all processes. A full count is "at least". */
export interface OpenCount {
  pending: number;
  inFlight: number;
  /** Id of the oldest of those counted. */
  oldestId?: string;
  /** When the most urgent of those counted is or was due. */
  firstDueAtMs?: number;
}

/** Counts what is pending and in flight from the due index alone. */
export async function countOpen(store: Store, counted: Counted): Promise<OpenCount> {
  const count: OpenCount = { pending: 0, inFlight: 0 };
  for await (const { key, value } of entriesOf<number>(store, keys.allDues(), counted)) {
    const dueAtMs = Number(key[2]);
    const id = String(key[3]);
    if (count.oldestId === undefined || id < count.oldestId) count.oldestId = id;
    if (dueAtMs < (count.firstDueAtMs ?? Infinity)) count.firstDueAtMs = dueAtMs;
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
export async function countDead(store: Store, counted: Counted): Promise<DeadCount> {
  const count: DeadCount = { dead: 0 };
  const entries = entriesOf<{ atMs?: number }>(store, keys.allDeads(), counted);
  for await (const { value: { atMs } } of entries) {
    if (atMs !== undefined && (count.oldestAtMs ?? Infinity) > atMs) count.oldestAtMs = atMs;
    count.dead++;
  }
  return count;
}

/** An index's entries of what is counted, up to `COUNTED_UP_TO`. */
async function* entriesOf<T>(
  store: Store,
  index: Deno.KvKey,
  counted: Counted,
): AsyncGenerator<Deno.KvEntry<T>> {
  const ofRelay = counted === RELAY_LANES;
  const selector = ofRelay
    ? { start: [...index, RELAY_FIRST], end: [...index, RELAY_BEHIND] }
    : { prefix: [...index, counted] };
  const options = { limit: COUNTED_UP_TO, batchSize: BATCH };
  for await (const entry of store.kv.list<T>(selector, options)) {
    if (!ofRelay || isRelayLane(String(entry.key[1]))) yield entry;
  }
}

/** Relay lanes' names lie between these; a configured one may, too. */
const RELAY_FIRST = "relay-0";
const RELAY_BEHIND = "relay-g";
