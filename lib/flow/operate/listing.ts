import { eventKey } from "../../decide/event_id.ts";
import type { Endpoint } from "../../endpoint.ts";
import { type Problem, problem } from "../../errors.ts";
import type { Delivery } from "../../model.ts";
import { readClaim } from "../../store/accept.ts";
import { readDelivery } from "../../store/door.ts";
import type { Store } from "../../store/kv.ts";
import {
  type DeliveryFilter,
  endpointsWithDeliveries,
  fits,
  hasDeliveries,
  listDeliveries,
  type Page,
} from "../../store/list.ts";

export interface ListingParts {
  store: Store;
  endpoints: ReadonlyMap<string, Endpoint>;
}

export interface Listing extends DeliveryFilter {
  /** One endpoint, configured or not; all that have deliveries where it is absent. */
  endpoint?: string;
  eventId?: string;
  limit: number;
  /** Only deliveries older than this id. */
  before?: string;
}

/** One page of deliveries, newest first; `unknown_endpoint` where the named one is none. */
export async function findDeliveries(
  { store, endpoints }: ListingParts,
  listing: Listing,
): Promise<Page | Problem> {
  const { endpoint, eventId, limit, before } = listing;
  if (
    endpoint !== undefined && !endpoints.has(endpoint) && !await hasDeliveries(store, endpoint)
  ) {
    return problem(
      "unknown_endpoint",
      "cannot list: no such endpoint is configured or has deliveries",
    );
  }
  if (eventId === undefined) return await listDeliveries(store, endpoint, listing, limit, before);
  const wanted = endpoint === undefined ? await endpointsWithDeliveries(store) : [endpoint];
  return { items: await ofEvent(store, wanted, listing, eventId) };
}

/** An event id leads to its delivery through the claim on it; at most one an endpoint. */
async function ofEvent(
  store: Store,
  endpoints: readonly string[],
  listing: Listing,
  eventId: string,
): Promise<Delivery[]> {
  const found = await Promise.all(endpoints.map(async (endpoint) => {
    const claim = await readClaim(store, endpoint, eventKey(eventId));
    return claim && await readDelivery(store, endpoint, claim.deliveryId);
  }));
  return found.flatMap((stored) => stored === undefined ? [] : [stored.value])
    .filter((delivery) => fits(delivery, listing));
}
