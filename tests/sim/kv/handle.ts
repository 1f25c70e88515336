import type { Kv } from "../../../lib/store/kv.ts";
import type { Actor } from "../world.ts";
import type { Database, Message } from "./database.ts";
import { encodeKey } from "./key_order.ts";
import { assertFits, assertKey, type Change, type Operation, type Range } from "./rows.ts";
import { copyOf } from "./values.ts";

const GET_MANY = 10;
const BATCH = 100;
const ALL = "\xff";

/** One process's connection to the simulated database. `onStep` runs at each of its events. */
export function openKv(database: Database, actor: Actor, onStep: () => void = () => {}): Kv {
  const { world, dice, weather, rows } = database;

  /** A call: reaches the database, takes effect there or not, and is answered or not. */
  function call<T>(kind: "read" | "write", effect: () => T): Promise<T> {
    const fate = weather.fateOf(kind);
    if (fate.accident) database.note(actor);
    // What is on the wire when its sender dies may arrive or not.
    const onTheWire = dice.chance(0.5);
    return new Promise((resolve, reject) => {
      world.after(fate.reachesInMs, () => {
        if (!actor.alive && !onTheWire) return;
        let result: T | undefined;
        try {
          if (fate.takesEffect) result = effect();
        } catch (error) {
          return reject(error);
        }
        world.after(fate.answersInMs, () => {
          if (fate.accident) database.note(actor);
          if (fate.error === undefined) resolve(result as T);
          else reject(new Error(fate.error));
          onStep();
        }, actor);
        if (actor.alive) onStep();
      });
    });
  }

  const commit = (operation: Operation, messages: readonly Message[] = []) => {
    assertFits(operation);
    return call("write", () => database.commit(operation, messages, actor));
  };

  const kv = {
    async get(key: Deno.KvKey) {
      assertKey(key, "read", 2_049);
      return await call("read", () => rows.get(key));
    },
    async getMany(keys: readonly Deno.KvKey[]) {
      if (keys.length > GET_MANY) throw new TypeError(`Too many ranges (max ${GET_MANY})`);
      return await call("read", () => keys.map((key) => rows.get(key)));
    },
    list(selector: Deno.KvListSelector, options: Deno.KvListOptions = {}) {
      return list(selector, options, (range) => call("read", () => rows.range(range)));
    },
    async set(key: Deno.KvKey, value: unknown, options: { expireIn?: number } = {}) {
      const change = { type: "set", key, value: copyOf(value), ...options } as const;
      return await commit({ checks: [], changes: [change] });
    },
    async delete(key: Deno.KvKey) {
      await commit({ checks: [], changes: [{ type: "delete", key }] });
    },
    atomic: () => new Atomic(commit),
    async enqueue(payload: unknown, { delay = 0 }: { delay?: number } = {}) {
      return await commit({ checks: [], changes: [] }, [{ payload, delayMs: delay }]);
    },
    listenQueue(onMessage: (message: unknown) => void) {
      database.listen({ actor, onMessage });
      return new Promise<void>(() => {});
    },
    close() {},
  };
  return kv as unknown as Kv;
}

class Atomic {
  readonly #operation: Operation = { checks: [], changes: [] };
  readonly #messages: Message[] = [];

  constructor(private readonly send: (o: Operation, m: readonly Message[]) => Promise<unknown>) {}

  check(...checks: Deno.AtomicCheck[]): this {
    this.#operation.checks.push(...checks);
    return this;
  }

  set(key: Deno.KvKey, value: unknown, options: { expireIn?: number } = {}): this {
    return this.#add({ type: "set", key, value: copyOf(value), ...options });
  }

  delete(key: Deno.KvKey): this {
    return this.#add({ type: "delete", key });
  }

  sum(key: Deno.KvKey, value: bigint): this {
    return this.#add({ type: "sum", key, value });
  }

  enqueue(payload: unknown, { delay = 0 }: { delay?: number } = {}): this {
    this.#messages.push({ payload, delayMs: delay });
    return this;
  }

  async commit(): Promise<unknown> {
    return await this.send(this.#operation, this.#messages);
  }

  #add(change: Change): this {
    this.#operation.changes.push(change);
    return this;
  }
}

type Fetch = (range: Range) => Promise<Deno.KvEntry<unknown>[]>;

/** Reads batch by batch: a list is one moment's picture only within a batch. */
async function* list(
  selector: Deno.KvListSelector,
  { limit = Infinity, batchSize = Math.min(limit, BATCH), reverse = false }: Deno.KvListOptions,
  fetch: Fetch,
): AsyncGenerator<Deno.KvEntry<unknown>, undefined> {
  if (limit <= 0) throw new Error(`Limit must be a positive integer: received ${limit}`);
  let { start, end } = bounds(selector);
  let left = limit;
  while (left > 0) {
    const wanted = Math.min(batchSize, left);
    const found = await fetch({ start, end, limit: wanted, reverse });
    yield* found;
    const last = found.at(-1);
    if (found.length < wanted || last === undefined) return undefined;
    left -= found.length;
    if (reverse) end = encodeKey(last.key);
    else start = encodeKey(last.key) + "\x00";
  }
}

function bounds(selector: Deno.KvListSelector): { start: string; end: string } {
  const { prefix, start, end } = selector as {
    prefix?: Deno.KvKey;
    start?: Deno.KvKey;
    end?: Deno.KvKey;
  };
  const from = start === undefined ? `${encodeKey(prefix!)}\x00` : encodeKey(start);
  const to = end === undefined ? encodeKey(prefix!) + ALL : encodeKey(end);
  if (prefix !== undefined && !from.startsWith(encodeKey(prefix))) {
    throw new TypeError("Start key is not in the keyspace defined by prefix");
  }
  if (from > to) throw new TypeError("Start key is greater than end key");
  return { start: from, end: to };
}
