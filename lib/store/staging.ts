import { LIMITS } from "../limits.ts";
import { keys } from "./keys.ts";
import { requireRoom, type Store } from "./kv.ts";
import type { Mutation } from "./write.ts";

/** Chunks written in one go: small enough to share the store with single posts. */
const GROUP_CHUNKS = 4;
/** No sender waits longer for its answer because a body is being taken back. */
const DISCARD_MS = 1_000;

/**
 * Takes the body of one large request in chunks, before its delivery is published. What
 * it wrote is invisible and is swept unless `publish` drops the mark in the same commit.
 */
export class Staging {
  #store: Store;
  #id: string;
  #group: Mutation[] = [];
  #marked = false;
  #chunk = new Uint8Array(LIMITS.chunkBytes);
  #filled = 0;
  /** Rows written or waiting, row 0 included. */
  rows = 1;

  constructor(store: Store, id: string) {
    this.#store = store;
    this.#id = id;
  }

  /** Adds bytes in order. Rejects with `StoreUnavailable`. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + LIMITS.chunkBytes - this.#filled);
      this.#chunk.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === LIMITS.chunkBytes) await this.#endChunk();
    }
  }

  /** Writes what is left. Call before the publishing commit. */
  async finish(): Promise<void> {
    if (this.#filled > 0) await this.#endChunk();
    await this.#flush();
  }

  /** The mutation that publishes: it belongs into the delivery's own commit. */
  publish(): Mutation {
    return { type: "delete", key: keys.staging(this.#id) };
  }

  /** Takes everything back; failures, and what the store is slow to do, are left to the sweep. */
  async discard(): Promise<void> {
    if (!this.#marked) return;
    const dropped = dropStaged(this.#store, this.#id).catch(() => {});
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#store.clock.after(DISCARD_MS, resolve);
    await Promise.race([dropped, late]);
    cancel();
  }

  async #endChunk(): Promise<void> {
    const key = keys.payload(this.#id, this.rows++);
    this.#group.push({ type: "set", key, value: this.#chunk.slice(0, this.#filled) });
    this.#filled = 0;
    if (this.#group.length === GROUP_CHUNKS) await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#group.length === 0) return;
    const mutations = this.#group;
    this.#group = [];
    requireRoom(this.#store);
    // In every group: one that lands after the mark was dropped would have no owner.
    mutations.push({
      type: "set",
      key: keys.staging(this.#id),
      value: { atMs: this.#store.clock.nowMs() },
    });
    await this.#store.committer.commit({
      checks: [],
      mutations,
      bytes: mutations.length * (LIMITS.chunkBytes + 64),
    });
    this.#marked = true;
  }
}

/** Deletes the chunks of one staged body, then its mark. */
async function dropStaged(store: Store, id: string): Promise<void> {
  const found: Deno.KvKey[] = [];
  for await (const entry of store.kv.list({ prefix: keys.payloads(id) })) found.push(entry.key);
  for (let at = 0; at < found.length; at += 100) {
    const operation = store.kv.atomic();
    for (const key of found.slice(at, at + 100)) operation.delete(key);
    await operation.commit();
  }
  await store.kv.delete(keys.staging(id));
}

/** Drops unpublished bodies whose mark is older than `LIMITS.stagingMs`. Returns how many. */
export async function sweepStaging(store: Store, nowMs: number, limit: number): Promise<number> {
  let swept = 0;
  for await (
    const entry of store.kv.list<{ atMs: number }>({ prefix: keys.stagings() }, { limit })
  ) {
    if (entry.value.atMs > nowMs - LIMITS.stagingMs) continue;
    await dropStaged(store, String(entry.key[1]));
    swept++;
  }
  return swept;
}
