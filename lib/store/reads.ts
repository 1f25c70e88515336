import { StoreUnavailable } from "../errors.ts";
import type { Kv } from "./kv.ts";

/** Asks the store for something, or fails in its place. */
type Read = <T>(ask: () => Promise<T>) => Promise<T>;

/** A store whose reads pass through `read`: keys, and every step of a list. */
export function readsThrough(kv: Kv, read: Read): Kv {
  return {
    get: (key, options) => read(() => kv.get(key, options)),
    getMany: (keys, options) => read(() => kv.getMany(keys, options)),
    list(selector, options) {
      const entries = kv.list<never>(selector, options);
      const next = entries.next.bind(entries);
      entries.next = () => read(next);
      return entries;
    },
    set: (key, value, options) => kv.set(key, value, options),
    delete: (key) => kv.delete(key),
    atomic: () => kv.atomic(),
    enqueue: (value, options) => kv.enqueue(value, options),
    listenQueue: (onMessage) => kv.listenQueue(onMessage),
    close: () => kv.close(),
  };
}

/**
 * A store whose failed reads reject with `StoreUnavailable`, as failed commits do. What KV
 * rejects with tells an outage from nothing else: a missing table is a `TypeError`.
 */
export function withReadFaults(kv: Kv): Kv {
  return readsThrough(kv, async (ask) => {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      throw new StoreUnavailable(`cannot read: ${(error as Error).message}`, { cause: error });
    }
  });
}
