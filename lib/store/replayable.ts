import { KV } from "../limits.ts";
import type { Delivery } from "../model.ts";
import { keys } from "./keys.ts";
import type { Store, StoredDelivery } from "./kv.ts";
import { type DeliveryFilter, fits, idRange } from "./list.ts";

/** What a replay job takes: settled deliveries alone can be replayed. */
export interface ReplayFilter extends DeliveryFilter {
  endpoint?: string;
  state: "dead" | "delivered";
}

/** Some of one endpoint's deliveries that fit a filter, oldest first. */
export interface Window {
  found: StoredDelivery[];
  /** The last id looked at; `undefined` once there is none behind it. */
  after?: string;
}

/** Reads up to `limit` rows of one endpoint behind the id `after` and keeps what fits. */
export async function replayable(
  store: Store,
  endpoint: string,
  filter: ReplayFilter,
  limit: number,
  after?: string,
): Promise<Window> {
  const prefix = filter.state === "dead" ? keys.deads(endpoint) : keys.deliveries(endpoint);
  const { from, before } = idRange(filter);
  const start = after === undefined ? from : `${after}\u0000`;
  const selector = {
    start: start === undefined ? [...prefix, ""] : [...prefix, start],
    end: [...prefix, before ?? BEHIND_IDS],
  };
  const ids: string[] = [];
  for await (const { key } of store.kv.list(selector, { limit, batchSize: limit })) {
    ids.push(String(key[2]));
  }
  const records = await readRecords(store, endpoint, ids);
  return {
    found: records.filter(({ value }) => fits(value, filter)),
    after: ids.length < limit ? undefined : ids.at(-1),
  };
}

/** Sorts behind every id: none starts with more than a 7. */
const BEHIND_IDS = "8";

async function readRecords(
  store: Store,
  endpoint: string,
  ids: readonly string[],
): Promise<StoredDelivery[]> {
  const groups: Promise<Deno.KvEntryMaybe<Delivery>[]>[] = [];
  for (let at = 0; at < ids.length; at += KV.getMany) {
    const group = ids.slice(at, at + KV.getMany).map((id) => keys.delivery(endpoint, id));
    groups.push(store.kv.getMany<Delivery[]>(group));
  }
  return (await Promise.all(groups)).flat().filter((entry) => entry.value !== null);
}
