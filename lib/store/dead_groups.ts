import type { DeadReason } from "../model.ts";
import { COUNTED_UP_TO } from "./counts.ts";
import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";

/** The dead of one endpoint that died of one reason. */
export interface DeadGroup {
  endpoint: string;
  reason: DeadReason;
  count: number;
  newestAtMs: number;
}

/** Dead letters by reason, from their index; up to `COUNTED_UP_TO` of the oldest are looked at. */
export async function deadGroups(store: Store, endpoint: string): Promise<DeadGroup[]> {
  const groups = new Map<DeadReason, DeadGroup>();
  const entries = store.kv.list<{ reason: DeadReason; atMs?: number }>(
    { prefix: keys.deads(endpoint) },
    { limit: COUNTED_UP_TO, batchSize: 500 },
  );
  for await (const { value: { reason, atMs = 0 } } of entries) {
    const group = groups.get(reason) ?? { endpoint, reason, count: 0, newestAtMs: 0 };
    group.count++;
    group.newestAtMs = Math.max(group.newestAtMs, atMs);
    groups.set(reason, group);
  }
  return [...groups.values()];
}
