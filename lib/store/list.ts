import { firstIdAt, isId } from "../ids.ts";
import type { DeadReason, Delivery, DeliveryState } from "../model.ts";
import { readDelivery } from "./door.ts";
import { keys } from "./keys.ts";
import type { Store, StoredDelivery } from "./kv.ts";
import { ofAllLanes, ofLanes, type Rows } from "./newest_first.ts";

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

/** A delivery's id is made when its request arrives, at most so long before it is accepted. */
const LONGEST_ARRIVAL_MS = 15 * 60_000;
/** Up to so many lanes each have a list of their own, all open at once. */
const FEW_LANES = 32;

/**
 * One page of deliveries of one endpoint, or of all, newest first. A page may be short of
 * `limit` and still have a next one, where few of the rows looked at fit the filter.
 */
export async function listDeliveries(
  store: Store,
  endpoint: string | undefined,
  filter: DeliveryFilter,
  limit: number,
  before?: string,
): Promise<Page> {
  const { rows, sight } = await rowsOf(store, endpoint, filter, startOf(filter, before));
  const items: Delivery[] = [];
  let seen = 0;
  let last = before;
  for await (const delivery of rows) {
    if (isTooOld(delivery, filter)) break;
    const fitting = fits(delivery, filter);
    if (seen === sight || (fitting && items.length === limit)) return { items, next: last };
    if (fitting) items.push(delivery);
    last = delivery.id;
    seen++;
  }
  return { items };
}

async function rowsOf(
  store: Store,
  endpoint: string | undefined,
  { state, reason }: DeliveryFilter,
  start: string | undefined,
): Promise<Rows> {
  // Only the dead have a reason; all that is left are mostly delivered.
  const sought = state ?? (reason === undefined ? "delivered" : "dead");
  const lanes = endpoint === undefined
    ? await endpointsWithDeliveries(store, FEW_LANES + 1)
    : [endpoint];
  return lanes.length > FEW_LANES
    ? await ofAllLanes(store, sought, start)
    : ofLanes(store, lanes, sought, start);
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

/** Finds a delivery by its id alone, through its payload. */
export async function findDelivery(store: Store, id: string): Promise<StoredDelivery | undefined> {
  if (!isId(id)) return undefined;
  const entry = await store.kv.get<{ endpoint: string }>(keys.payload(id, 0));
  return entry.value === null ? undefined : await readDelivery(store, entry.value.endpoint, id);
}

/** Whether an endpoint has deliveries. */
export async function hasDeliveries(store: Store, endpoint: string): Promise<boolean> {
  const selector = { prefix: keys.deliveries(endpoint) };
  return !(await store.kv.list(selector, { limit: 1 }).next()).done;
}

/** Names of endpoints that have deliveries, up to `most`, one seek each; removed ones too. */
export async function endpointsWithDeliveries(store: Store, most?: number): Promise<string[]> {
  return await secondParts(store, keys.allDeliveries(), most);
}

/** The distinct second parts of the keys under a prefix, up to `most`, read with one seek each. */
export async function secondParts(
  store: Store,
  prefix: Deno.KvKey,
  most = Infinity,
): Promise<string[]> {
  const found: string[] = [];
  let selector: Deno.KvListSelector = { prefix };
  while (found.length < most) {
    const first: IteratorResult<Deno.KvEntry<unknown>, undefined> = await store.kv.list(selector, {
      limit: 1,
    }).next();
    if (first.value === undefined) break;
    const part: string = String(first.value.key[1]);
    found.push(part);
    // The least text that sorts behind every key of this part.
    selector = { prefix, start: [...prefix, `${part}\u0000`] };
  }
  return found;
}
