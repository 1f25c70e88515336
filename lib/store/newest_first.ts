import type { Delivery, DeliveryState } from "../model.ts";
import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";
import { backwards, type Index, payloadPlaces, type Place, placesIn, recordsAt } from "./places.ts";

/** Rows looked at for one page: a rare state must not make one request read the whole store. */
const SIGHT = 10_000;
/** The same of payloads, each of which may be a full chunk. */
const PAYLOAD_SIGHT = 2_000;
const BATCH = 100;

/** Deliveries, newest first, and how many of them one page may look at. */
export interface Rows {
  rows: AsyncGenerator<Delivery>;
  sight: number;
}

/** All deliveries that may be in a state, of a few lanes: a list for each, merged. */
export function ofLanes(
  store: Store,
  lanes: readonly string[],
  state: DeliveryState,
  before?: string,
): Rows {
  const source = SOURCES[state];
  return { rows: merged(lanes.map((lane) => source(store, lane, before))), sight: SIGHT };
}

/**
 * The same of all lanes, however many. What is open or dead is found in its index, unless
 * that is longer than one page may look; all else by the payloads.
 */
export async function ofAllLanes(
  store: Store,
  state: DeliveryState,
  before?: string,
): Promise<Rows> {
  const index = INDEXES[state];
  const found = index && await placesIn(store, index, SIGHT, before);
  return found === undefined
    ? { rows: recordsAt(store, payloadPlaces(store, before)), sight: PAYLOAD_SIGHT }
    : { rows: recordsAt(store, found), sight: SIGHT };
}

const DUE: Index = { prefix: keys.allDues(), idAt: 3 };

/** Where the deliveries of a state stand by themselves, over all lanes. */
const INDEXES: Record<DeliveryState, Index | undefined> = {
  pending: DUE,
  in_flight: DUE,
  dead: { prefix: keys.allDeads(), idAt: 2 },
  delivered: undefined,
};

type Source = (store: Store, lane: string, before?: string) => AsyncGenerator<Delivery>;

/** Where the deliveries of a state are found in one lane; most are delivered. */
const SOURCES: Record<DeliveryState, Source> = {
  pending: openOf,
  in_flight: openOf,
  dead: (store, lane, before) => recordsAt(store, deadPlaces(store, lane, before)),
  delivered: allOf,
};

async function* allOf(store: Store, lane: string, before?: string): AsyncGenerator<Delivery> {
  const selector = backwards(keys.deliveries(lane), before);
  for await (
    const entry of store.kv.list<Delivery>(selector, { reverse: true, batchSize: BATCH })
  ) yield entry.value;
}

async function* deadPlaces(store: Store, lane: string, before?: string): AsyncGenerator<Place> {
  const selector = backwards(keys.deads(lane), before);
  for await (const { key } of store.kv.list(selector, { reverse: true, batchSize: BATCH })) {
    yield { lane, id: String(key[2]) };
  }
}

/**
 * The open ones from the due index, which holds nothing else. Where it is longer than one
 * page may look, they are many among all, and are found there.
 */
async function* openOf(store: Store, lane: string, before?: string): AsyncGenerator<Delivery> {
  const found = await placesIn(store, { prefix: keys.dues(lane), idAt: 3 }, SIGHT, before);
  yield* found === undefined ? allOf(store, lane, before) : recordsAt(store, found);
}

/** Merges lists that are newest first into one that is. */
async function* merged(sources: AsyncGenerator<Delivery>[]): AsyncGenerator<Delivery> {
  const heads = await Promise.all(sources.map((source) => source.next()));
  try {
    for (;;) {
      let newest = -1;
      for (const [index, head] of heads.entries()) {
        if (head.done) continue;
        if (newest < 0 || head.value.id > (heads[newest].value as Delivery).id) newest = index;
      }
      if (newest < 0) return;
      yield heads[newest].value as Delivery;
      heads[newest] = await sources[newest].next();
    }
  } finally {
    for (const source of sources) await source.return(undefined);
  }
}
