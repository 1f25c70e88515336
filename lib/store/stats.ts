import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";
import type { CountName } from "./write.ts";

/** What happened in a span of time, over all processes. */
export type Totals = Record<CountName, number>;

const NAMES: readonly CountName[] = [
  "accepted",
  "duplicate",
  "attempts",
  "failed",
  "delivered",
  "dead",
  "replayed",
];

/** Totals of nothing. */
export function noTotals(): Totals {
  return Object.fromEntries(NAMES.map((name) => [name, 0])) as Totals;
}

/** Sums one endpoint's counters from `sinceMinute` on. */
export async function readTotals(
  store: Store,
  endpoint: string,
  sinceMinute: number,
): Promise<Totals> {
  const totals = noTotals();
  const prefix = keys.stats(endpoint);
  const selector = { prefix, start: [...prefix, sinceMinute] };
  for await (const { key, value } of store.kv.list<Deno.KvU64>(selector, { batchSize: 500 })) {
    const name = key[3] as CountName;
    if (name in totals) totals[name] += Number(value.value);
  }
  return totals;
}

/** Whether something of the endpoint was counted after a minute. */
export async function hasCountsAfter(
  store: Store,
  endpoint: string,
  minute: number,
): Promise<boolean> {
  const prefix = keys.stats(endpoint);
  const selector = { prefix, start: [...prefix, minute + 1] };
  const found = await Array.fromAsync(store.kv.list(selector, { limit: 1 }));
  return found.length > 0;
}

/** Adds totals up. */
export function addTotals(all: readonly Totals[]): Totals {
  const sum = noTotals();
  for (const totals of all) for (const name of NAMES) sum[name] += totals[name];
  return sum;
}
