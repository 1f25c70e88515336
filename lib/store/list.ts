import { firstIdAt, isId } from "../ids.ts";
import { KV } from "../limits.ts";
import type { DeadReason, Delivery, DeliveryState } from "../model.ts";
import { readDelivery } from "./door.ts";
import { keys } from "./keys.ts";
import type { Store, StoredDelivery } from "./kv.ts";

export interface DeliveryFilter {
  state?: DeliveryState;
  reason?: DeadReason;
  /** Accepted at or after, in epoch milliseconds. */
  sinceMs?: number;
  /** Accepted before, in epoch milliseconds. */
  untilMs?: number;
}

export interface Page {
  items: Delivery[];
  /** The next page holds what is older than this id. Absent on the last page. */
  next?: string;
}

/** Rows looked at for one page: a rare state must not make one request read the whole store. */
const SIGHT = 10_000;
/** A delivery's id is made when its request arrives, at most so long before it is accepted. */
const LONGEST_ARRIVAL_MS = 15 * 60_000;
const BATCH = 100;
const KEYS_BATCH = 500;

/**
 * One page of deliveries over the given endpoints, newest first. A page may be short of
 * `limit` and still have a next one, where few of the rows looked at fit the filter.
 */
export async function listDeliveries(
  store: Store,
  endpoints: readonly string[],
  filter: DeliveryFilter,
  limit: number,
  before?: string,
): Promise<Page> {
  const source = SOURCES[filter.state ?? "delivered"];
  const start = startOf(filter, before);
  const items: Delivery[] = [];
  let seen = 0;
  let last = before;
  for await (
    const delivery of merged(endpoints.map((endpoint) => source(store, endpoint, start)))
  ) {
    if (isTooOld(delivery, filter)) break;
    const fitting = fits(delivery, filter);
    if (seen === SIGHT || (fitting && items.length === limit)) return { items, next: last };
    if (fitting) items.push(delivery);
    last = delivery.id;
    seen++;
  }
  return { items };
}

/** The ids that may fit a filter's times: from the first on, before the other. */
export function idRange({ sinceMs, untilMs }: DeliveryFilter): { from?: string; before?: string } {
  return {
    from: sinceMs === undefined ? undefined : firstIdAt(sinceMs - LONGEST_ARRIVAL_MS),
    // A clock may have been set back between the making of an id and the acceptance.
    before: untilMs === undefined ? undefined : firstIdAt(untilMs + LONGEST_ARRIVAL_MS),
  };
}

function startOf(filter: DeliveryFilter, before?: string): string | undefined {
  const range = idRange(filter);
  if (range.before === undefined) return before;
  return before !== undefined && before < range.before ? before : range.before;
}

function isTooOld({ acceptedAtMs }: Delivery, { sinceMs }: DeliveryFilter): boolean {
  return sinceMs !== undefined && acceptedAtMs < sinceMs - LONGEST_ARRIVAL_MS;
}

/** Whether a delivery is what the filter asks for. */
export function fits(
  delivery: Delivery,
  { state, reason, sinceMs, untilMs }: DeliveryFilter,
): boolean {
  return (state === undefined || delivery.state === state) &&
    (reason === undefined || delivery.reason === reason) &&
    (sinceMs === undefined || delivery.acceptedAtMs >= sinceMs) &&
    (untilMs === undefined || delivery.acceptedAtMs < untilMs);
}

async function* allOf(store: Store, endpoint: string, before?: string): AsyncGenerator<Delivery> {
  const selector = backwards(keys.deliveries(endpoint), before);
  for await (
    const entry of store.kv.list<Delivery>(selector, { reverse: true, batchSize: BATCH })
  ) yield entry.value;
}

async function* deadOf(store: Store, endpoint: string, before?: string): AsyncGenerator<Delivery> {
  const selector = backwards(keys.deads(endpoint), before);
  let ids: string[] = [];
  for await (const entry of store.kv.list(selector, { reverse: true, batchSize: BATCH })) {
    ids.push(String(entry.key[2]));
    if (ids.length < KV.getMany) continue;
    yield* await readMany(store, endpoint, ids);
    ids = [];
  }
  yield* await readMany(store, endpoint, ids);
}

/**
 * The open ones from the due index, which holds nothing else. Where it is longer than one
 * page may look, they are many among all, and are found there.
 */
async function* openOf(store: Store, endpoint: string, before?: string): AsyncGenerator<Delivery> {
  const ids = new Set<string>();
  const selector = { prefix: keys.dues(endpoint) };
  let seen = 0;
  for await (const { key } of store.kv.list(selector, { limit: SIGHT, batchSize: KEYS_BATCH })) {
    ids.add(String(key[3]));
    seen++;
  }
  if (seen === SIGHT) return yield* allOf(store, endpoint, before);
  const wanted = [...ids].filter((id) => before === undefined || id < before).toSorted();
  while (wanted.length > 0) {
    yield* await readMany(store, endpoint, wanted.splice(-KV.getMany).toReversed());
  }
}

type Source = (store: Store, endpoint: string, before?: string) => AsyncGenerator<Delivery>;

/** Where the deliveries of a state are found, newest first; most are delivered. */
const SOURCES: Record<DeliveryState, Source> = {
  pending: openOf,
  in_flight: openOf,
  dead: deadOf,
  delivered: allOf,
};

function backwards(prefix: Deno.KvKey, before: string | undefined): Deno.KvListSelector {
  return before === undefined ? { prefix } : { prefix, end: [...prefix, before] };
}

async function readMany(
  store: Store,
  endpoint: string,
  ids: readonly string[],
): Promise<Delivery[]> {
  if (ids.length === 0) return [];
  const entries = await store.kv.getMany<Delivery[]>(ids.map((id) => keys.delivery(endpoint, id)));
  return entries.map((entry) => entry.value).filter((value) => value !== null);
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

/** Finds a delivery by its id alone, through its payload. */
export async function findDelivery(store: Store, id: string): Promise<StoredDelivery | undefined> {
  if (!isId(id)) return undefined;
  const entry = await store.kv.get<{ endpoint: string }>(keys.payload(id, 0));
  return entry.value === null ? undefined : await readDelivery(store, entry.value.endpoint, id);
}

/** Names of all endpoints that have deliveries, one seek each; removed ones too. */
export async function endpointsWithDeliveries(store: Store): Promise<string[]> {
  return await secondParts(store, keys.allDeliveries());
}

/** The distinct second parts of the keys under a prefix, read with one seek each. */
export async function secondParts(store: Store, prefix: Deno.KvKey): Promise<string[]> {
  const found: string[] = [];
  let selector: Deno.KvListSelector = { prefix };
  for (;;) {
    const first: IteratorResult<Deno.KvEntry<unknown>, undefined> = await store.kv.list(selector, {
      limit: 1,
    }).next();
    if (first.value === undefined) return found;
    const part: string = String(first.value.key[1]);
    found.push(part);
    // The least text that sorts behind every key of this part.
    selector = { prefix, start: [...prefix, `${part}\u0000`] };
  }
}
