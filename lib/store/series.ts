import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";

const NAMES = ["accepted", "delivered", "dead"] as const;

/** Counts over time, oldest bucket first. */
export interface Series {
  startMinute: number;
  bucketMinutes: number;
  accepted: number[];
  delivered: number[];
  dead: number[];
}

/** Sums the counters of some endpoints into `buckets` buckets that begin at `startMinute`. */
export async function readSeries(
  store: Store,
  endpoints: Iterable<string>,
  startMinute: number,
  bucketMinutes: number,
  buckets: number,
): Promise<Series> {
  const none = () => new Array<number>(buckets).fill(0);
  const series = { startMinute, bucketMinutes, accepted: none(), delivered: none(), dead: none() };
  await Promise.all(Array.from(endpoints, (endpoint) => addLane(store, endpoint, series)));
  return series;
}

async function addLane(store: Store, endpoint: string, series: Series): Promise<void> {
  const prefix = keys.stats(endpoint);
  const selector = { prefix, start: [...prefix, series.startMinute] };
  for await (const { key, value } of store.kv.list<Deno.KvU64>(selector, { batchSize: 500 })) {
    const name = NAMES.find((one) => one === key[3]);
    const bucket = Math.floor((Number(key[2]) - series.startMinute) / series.bucketMinutes);
    if (name !== undefined && bucket < series[name].length) {
      series[name][bucket] += Number(value.value);
    }
  }
}
