import type { Clock } from "../../ports.ts";
import { type DeadGroup, deadGroups } from "../../store/dead_groups.ts";
import type { Store } from "../../store/kv.ts";
import { readSeries, type Series } from "../../store/series.ts";
import { secondParts } from "../../store/list.ts";
import { keys } from "../../store/keys.ts";
import { minuteOf } from "../../store/write.ts";

/** A span of the past and how finely it is told. */
export type Span = "hour" | "day";

const SPANS: Record<Span, { bucketMinutes: number; buckets: number }> = {
  hour: { bucketMinutes: 1, buckets: 60 },
  day: { bucketMinutes: 15, buckets: 96 },
};

interface Parts {
  store: Store;
  clock: Clock;
}

/** What was accepted, delivered and died lately, over all processes; the last bucket is now. */
export async function historyOf({ store, clock }: Parts, span: Span): Promise<Series> {
  const { bucketMinutes, buckets } = SPANS[span];
  const current = Math.floor(minuteOf(clock.nowMs()) / bucketMinutes) * bucketMinutes;
  const start = current - (buckets - 1) * bucketMinutes;
  const endpoints = await secondParts(store, keys.allStats());
  return await readSeries(store, endpoints, start, bucketMinutes, buckets);
}

/** Dead letters of all endpoints by reason, removed endpoints included; the largest group first. */
export async function deadLettersByReason({ store }: Pick<Parts, "store">): Promise<DeadGroup[]> {
  const endpoints = await secondParts(store, keys.allDeads());
  const groups = await Promise.all(endpoints.map((endpoint) => deadGroups(store, endpoint)));
  return groups.flat().toSorted((a, b) => b.count - a.count);
}
