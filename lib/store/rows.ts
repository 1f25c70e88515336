import { KV } from "../limits.ts";
import type { Kv } from "./kv.ts";

/** Rows of others that one range may bring along before it is given up. */
const SPARE_ROWS = 16;

/**
 * Reads many rows of one prefix, `tails` in ascending order. Where they lie close together
 * one range brings them all, several times cheaper than key by key; what it did not bring
 * is read by key. Missing rows are absent from the result.
 */
export async function readRows<T>(
  kv: Pick<Kv, "list" | "getMany">,
  prefix: Deno.KvKey,
  tails: readonly Deno.KvKey[],
): Promise<Map<Deno.KvKey, Deno.KvEntry<T>>> {
  const found = new Map<Deno.KvKey, Deno.KvEntry<T>>();
  const wanted = new Map(tails.map((tail) => [tail.join("/"), tail]));
  if (tails.length > 1) {
    for await (const entry of rangeOf<T>(kv, prefix, tails)) {
      const tail = wanted.get(entry.key.slice(prefix.length).join("/"));
      if (tail !== undefined) found.set(tail, entry);
    }
  }
  const missing = tails.filter((tail) => !found.has(tail));
  for (const [tail, entry] of await byKey<T>(kv, prefix, missing)) found.set(tail, entry);
  return found;
}

function rangeOf<T>(
  kv: Pick<Kv, "list">,
  prefix: Deno.KvKey,
  tails: readonly Deno.KvKey[],
): Deno.KvListIterator<T> {
  const limit = tails.length + SPARE_ROWS;
  const start = [...prefix, ...tails[0]];
  // The first key behind the last one.
  const end = [...prefix, ...tails[tails.length - 1], 0];
  return kv.list<T>({ start, end }, { limit, batchSize: limit });
}

async function byKey<T>(
  kv: Pick<Kv, "getMany">,
  prefix: Deno.KvKey,
  tails: readonly Deno.KvKey[],
): Promise<[Deno.KvKey, Deno.KvEntry<T>][]> {
  const groups: Promise<[Deno.KvKey, Deno.KvEntry<T>][]>[] = [];
  for (let at = 0; at < tails.length; at += KV.getMany) {
    const group = tails.slice(at, at + KV.getMany);
    groups.push(
      kv.getMany<T[]>(group.map((tail) => [...prefix, ...tail])).then((entries) =>
        entries.flatMap((entry, index) =>
          entry.versionstamp === null ? [] : [[group[index], entry]]
        )
      ),
    );
  }
  return (await Promise.all(groups)).flat();
}
