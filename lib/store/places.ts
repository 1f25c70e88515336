import type { Delivery } from "../model.ts";
import { KV } from "../limits.ts";
import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";

/** Where a delivery is: enough to read its record. */
export interface Place {
  lane: string;
  id: string;
}

/** Keys of which the second part is a lane and another one an id. */
export interface Index {
  prefix: Deno.KvKey;
  idAt: number;
}

const KEYS_BATCH = 500;
/** Rows of payloads that one call brings: few, since a chunk of a large body has 60 KiB. */
const PAYLOAD_BATCH = 10;

/**
 * The places that an index names, newest first, before an id where one is given. `undefined`
 * where the index has `most` entries or more.
 */
export async function placesIn(
  store: Store,
  { prefix, idAt }: Index,
  most: number,
  before = "\uffff",
): Promise<Place[] | undefined> {
  // A due entry may move while this reads, and then be met twice.
  const found = new Map<string, Place>();
  const options = { limit: most, batchSize: KEYS_BATCH };
  let seen = 0;
  for await (const { key } of store.kv.list({ prefix }, options)) {
    const id = String(key[idAt]);
    if (id < before) found.set(id, { lane: String(key[1]), id });
    seen++;
  }
  return seen === most ? undefined : [...found.values()].toSorted((a, b) => a.id < b.id ? 1 : -1);
}

/**
 * The places of all deliveries, newest first, by their payloads: those sort by id over all
 * lanes. A body of several chunks is stepped over; one that is still being staged has no head.
 */
export async function* payloadPlaces(store: Store, before?: string): AsyncGenerator<Place> {
  let end = before;
  for (;;) {
    let large: string | undefined;
    for await (const { key, value } of payloadHeads(store, end)) {
      const id = String(key[1]);
      if (key[2] !== 0) {
        large = id;
        break;
      }
      yield { lane: value.endpoint, id };
    }
    if (large === undefined) return;
    const head = await store.kv.get<Head>(keys.payload(large, 0));
    if (head.value !== null) yield { lane: head.value.endpoint, id: large };
    end = large;
  }
}

interface Head {
  endpoint: string;
}

function payloadHeads(store: Store, before?: string): Deno.KvListIterator<Head> {
  const selector = backwards(keys.allPayloads(), before);
  return store.kv.list<Head>(selector, { reverse: true, batchSize: PAYLOAD_BATCH });
}

/** Reads the records at places, in their order; what is gone is left out. */
export async function* recordsAt(
  store: Store,
  places: AsyncIterable<Place> | Iterable<Place>,
): AsyncGenerator<Delivery> {
  let group: Deno.KvKey[] = [];
  for await (const { lane, id } of places) {
    group.push(keys.delivery(lane, id));
    if (group.length < KV.getMany) continue;
    yield* await readMany(store, group);
    group = [];
  }
  yield* await readMany(store, group);
}

async function readMany(store: Store, group: readonly Deno.KvKey[]): Promise<Delivery[]> {
  if (group.length === 0) return [];
  const entries = await store.kv.getMany<Delivery[]>(group);
  return entries.map((entry) => entry.value).filter((value) => value !== null);
}

/** What is under a prefix, or the part of it before a key's next part. */
export function backwards(prefix: Deno.KvKey, before: string | undefined): Deno.KvListSelector {
  return before === undefined ? { prefix } : { prefix, end: [...prefix, before] };
}
