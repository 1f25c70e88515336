import { encodeKey } from "./key_order.ts";
import { copyOf, sizeOf } from "./values.ts";

export type Change =
  | { type: "set"; key: Deno.KvKey; value: unknown; expireIn?: number }
  | { type: "delete"; key: Deno.KvKey }
  | { type: "sum"; key: Deno.KvKey; value: bigint };

/** One atomic operation, as it reaches the database. */
export interface Operation {
  checks: Deno.AtomicCheck[];
  changes: Change[];
}

/** What a commit did to one key. */
export interface Applied {
  key: Deno.KvKey;
  before: unknown;
  after: unknown;
}

interface Row {
  key: Deno.KvKey;
  value: unknown;
  versionstamp: string;
  expiresAtMs: number;
}

export interface Range {
  /** Encoded keys: from the first, before the second. */
  start: string;
  end: string;
  limit: number;
  reverse: boolean;
}

/** What a real database refuses (checks of Deno's `ext/kv`), with its words. */
const MOST = {
  checks: 100,
  changes: 1_000,
  keyBytes: 2_048,
  valueBytes: 65_536,
  bytes: 819_200,
  setKeyBytes: 81_920,
};

/** The database itself: one sorted space of versioned rows, one commit after the other. */
export class Rows {
  readonly #rows = new Map<string, Row>();
  #sorted: string[] = [];
  #version = 0;

  get(key: Deno.KvKey): Deno.KvEntryMaybe<unknown> {
    const row = this.#rows.get(encodeKey(key));
    return row === undefined ? { key: copyOf(key), value: null, versionstamp: null } : entryOf(row);
  }

  /** The value as it lies there, for judges that only look. */
  peek(key: Deno.KvKey): unknown {
    return this.#rows.get(encodeKey(key))?.value;
  }

  range({ start, end, limit, reverse }: Range): Deno.KvEntry<unknown>[] {
    const found: Deno.KvEntry<unknown>[] = [];
    let at = reverse ? this.#place(end) - 1 : this.#place(start);
    while (found.length < limit && at >= 0 && at < this.#sorted.length) {
      const name = this.#sorted[at];
      if (reverse ? name < start : name >= end) break;
      found.push(entryOf(this.#rows.get(name)!));
      at += reverse ? -1 : 1;
    }
    return found;
  }

  /** All rows under a prefix as they lie there. */
  *under(prefix: Deno.KvKey): Generator<{ key: Deno.KvKey; value: unknown }> {
    const start = encodeKey(prefix);
    for (let at = this.#place(start); at < this.#sorted.length; at++) {
      if (!this.#sorted[at].startsWith(start)) return;
      yield this.#rows.get(this.#sorted[at])!;
    }
  }

  /** Applies an operation whole or not at all. */
  commit(
    { checks, changes }: Operation,
    nowMs: number,
  ): { versionstamp: string; applied: Applied[] } | undefined {
    const holds = ({ key, versionstamp }: Deno.AtomicCheck) =>
      (this.#rows.get(encodeKey(key))?.versionstamp ?? null) === versionstamp;
    if (!checks.every(holds)) return undefined;
    const versionstamp = (++this.#version).toString(16).padStart(16, "0") + "0000";
    const applied = changes.map((change) => this.#apply(change, versionstamp, nowMs));
    return { versionstamp, applied };
  }

  /** Removes what has expired; a real database does so now and then. */
  expire(nowMs: number): void {
    for (const [name, row] of this.#rows) {
      if (row.expiresAtMs <= nowMs) this.#remove(name);
    }
  }

  #apply(change: Change, versionstamp: string, nowMs: number): Applied {
    const { key } = change;
    const name = encodeKey(key);
    const before = this.#rows.get(name)?.value;
    if (change.type === "delete") {
      this.#remove(name);
      return { key, before, after: undefined };
    }
    const value = change.type === "sum" ? summed(before, change.value) : change.value;
    const expireIn = change.type === "set" ? change.expireIn : undefined;
    if (before === undefined && !this.#rows.has(name)) {
      this.#sorted.splice(this.#place(name), 0, name);
    }
    this.#rows.set(name, { key, value, versionstamp, expiresAtMs: nowMs + (expireIn ?? Infinity) });
    return { key, before, after: value };
  }

  #remove(name: string): void {
    if (this.#rows.delete(name)) this.#sorted.splice(this.#place(name), 1);
  }

  /** Index of the first key that is not before `name`. */
  #place(name: string): number {
    let low = 0, high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sorted[middle] < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const entryOf = ({ key, value, versionstamp }: Row): Deno.KvEntry<unknown> => ({
  key: copyOf(key),
  value: copyOf(value),
  versionstamp,
});

function summed(before: unknown, n: bigint): Deno.KvU64 {
  if (before === undefined) return new Deno.KvU64(n);
  if (before instanceof Deno.KvU64) return new Deno.KvU64(BigInt.asUintN(64, before.value + n));
  throw new TypeError("Failed to perform 'sum' mutation on a non-U64 value in the database");
}

/** Throws what a real database throws for an operation that is too large. */
export function assertFits({ checks, changes }: Operation): void {
  if (checks.length > MOST.checks) throw new TypeError(`Too many checks (max ${MOST.checks})`);
  if (changes.length > MOST.changes) {
    throw new TypeError(`Too many mutations (max ${MOST.changes})`);
  }
  let bytes = 0, setKeyBytes = 0;
  for (const { key } of checks) assertKey(key, "read", MOST.keyBytes + 1);
  for (const change of changes) {
    assertKey(change.key, "write", MOST.keyBytes);
    const size = change.type === "set" ? sizeOf(change.value) : 8;
    if (size > MOST.valueBytes) {
      throw new TypeError(`Value too large (max ${MOST.valueBytes} bytes)`);
    }
    const keyBytes = encodeKey(change.key).length;
    bytes += size + keyBytes;
    if (change.type !== "delete") setKeyBytes += keyBytes;
  }
  if (setKeyBytes > MOST.setKeyBytes) {
    throw new TypeError(`Total key size too large (max ${MOST.setKeyBytes} bytes)`);
  }
  if (bytes > MOST.bytes) {
    throw new TypeError(`Total mutation size too large (max ${MOST.bytes} bytes)`);
  }
}

/** Throws what a real database throws for a key that it cannot take. */
export function assertKey(key: Deno.KvKey, verb: "read" | "write", most: number): void {
  if (key.length === 0 && verb === "write") throw new TypeError("key cannot be empty");
  if (encodeKey(key).length > most) {
    throw new TypeError(`Key too large for ${verb} (max ${most} bytes)`);
  }
}
