import type { Kv } from "../../lib/store/kv.ts";

/** What a store was asked for. */
export interface Figures {
  /** Calls that read: each is one way to the store and back, a list one for each of its batches. */
  calls: number;
  /** Entries that were read, a key that is not there included. */
  reads: number;
  /** Atomic operations, and single sets and deletes. */
  commits: number;
  /** Of these, refused by a check. */
  refused: number;
  /** Entries set, deleted or summed by those that took effect. */
  writes: number;
  /** Messages put into the queue. */
  messages: number;
}

const none = (): Figures => ({
  calls: 0,
  reads: 0,
  commits: 0,
  refused: 0,
  writes: 0,
  messages: 0,
});

/** Rows a list fetches at once where nothing else is asked for. */
const BATCH = 100;

/** A real store that counts what it is asked for. */
export class CountingKv {
  readonly kv: Kv;
  #figures = none();

  constructor(kv: Kv) {
    this.kv = {
      get: (key, options) => {
        this.#read(1);
        return kv.get(key, options);
      },
      getMany: (keys, options) => {
        this.#read(keys.length);
        return kv.getMany(keys, options);
      },
      list: (selector, options) => this.#counted(kv.list<never>(selector, options), options),
      set: (key, value, options) => {
        this.#written(1);
        return kv.set(key, value, options);
      },
      delete: (key) => {
        this.#written(1);
        return kv.delete(key);
      },
      atomic: () => this.#operation(kv.atomic()),
      enqueue: (value, options) => {
        this.#figures.messages++;
        return kv.enqueue(value, options);
      },
      listenQueue: (onMessage) => kv.listenQueue(onMessage),
      close: () => kv.close(),
    };
  }

  /** Entries written since the last `take`. */
  get writes(): number {
    return this.#figures.writes;
  }

  /** What was counted since the last time. */
  take(): Figures {
    const figures = this.#figures;
    this.#figures = none();
    return figures;
  }

  #read(entries: number): void {
    this.#figures.calls++;
    this.#figures.reads += entries;
  }

  #written(entries: number): void {
    this.#figures.commits++;
    this.#figures.writes += entries;
  }

  #counted<T>(entries: Deno.KvListIterator<T>, options: Deno.KvListOptions = {}) {
    const { limit = Infinity, batchSize = BATCH } = options;
    const size = Math.min(limit, batchSize);
    const next = entries.next.bind(entries);
    let seen = 0;
    this.#figures.calls++;
    entries.next = async () => {
      if (seen > 0 && seen < limit && seen % size === 0) this.#figures.calls++;
      const result = await next();
      if (result.done !== true) {
        seen++;
        this.#figures.reads++;
      }
      return result;
    };
    return entries;
  }

  #operation(operation: Deno.AtomicOperation): Deno.AtomicOperation {
    let writes = 0;
    let messages = 0;
    const counted = new Proxy(operation, {
      get: (target, name: keyof Deno.AtomicOperation) => {
        if (name === "commit") {
          return async () => {
            const result = await target.commit();
            if (result.ok) {
              this.#written(writes);
              this.#figures.messages += messages;
            } else {
              this.#figures.commits++;
              this.#figures.refused++;
            }
            return result;
          };
        }
        return (...given: never[]) => {
          if (name === "enqueue") messages++;
          else if (name === "mutate") writes += given.length;
          else if (name !== "check") writes++;
          (target[name] as (...given: never[]) => unknown)(...given);
          return counted;
        };
      },
    });
    return counted;
  }
}
