import { StoreUnavailable } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import { keys } from "./keys.ts";
import { requireRoom, type Store } from "./kv.ts";
import type { Mutation } from "./write.ts";

/** Chunks written in one go: small enough to share the store with single posts. */
const GROUP_CHUNKS = 4;
/** No sender waits longer for its answer because a body is being taken back. */
const DISCARD_MS = 1_000;

interface Mark {
  atMs: number;
}

/** Chunks of a pruned body, to be dropped by the next sweep as if they had been staged. */
export function leftOver(store: Store, id: string): { key: Deno.KvKey; mark: Mark } {
  return { key: keys.staging(id), mark: { atMs: store.clock.nowMs() - LIMITS.stagingMs } };
}

/**
 * Takes the body of one large request in chunks, before its delivery is published. What
 * it wrote is invisible and is swept unless `publish` drops the mark in the same commit.
 * Each write builds on the mark of the one before: what was swept meanwhile, by a process
 * whose clock is ahead, is never published.
 */
export class Staging {
  #store: Store;
  #id: string;
  #group: Mutation[] = [];
  /** Version of the mark as it was last written. */
  #marked: string | null = null;
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

  /** What publishes: both belong into the delivery's own commit. */
  publish(): { check: Deno.AtomicCheck; mutation: Mutation } {
    const key = keys.staging(this.#id);
    return { check: { key, versionstamp: this.#marked }, mutation: { type: "delete", key } };
  }

  /** Takes everything back; failures, and what the store is slow to do, are left to the sweep. */
  async discard(): Promise<void> {
    if (this.#marked === null) return;
    const mark = { atMs: this.#store.clock.nowMs() };
    const dropped = dropStaged(this.#store, this.#id, mark).catch(() => {});
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
    const key = keys.staging(this.#id);
    const mark: Mark = { atMs: this.#store.clock.nowMs() };
    mutations.push({ type: "set", key, value: mark });
    const result = await this.#store.committer.commit({
      checks: [{ key, versionstamp: this.#marked }],
      mutations,
      bytes: mutations.length * (LIMITS.chunkBytes + 64),
    });
    if (!result.ok) throw new StoreUnavailable("cannot store the body: it was swept meanwhile");
    this.#marked = result.versionstamp;
  }
}

/**
 * Deletes the chunks of one staged body, then its mark. The mark is written first: nothing
 * that builds on the one before can land from then on, and a crash leaves it to the next
 * sweep. `false`: somebody was faster than `check`.
 */
async function dropStaged(
  store: Store,
  id: string,
  mark: Mark,
  check?: Deno.AtomicCheck,
): Promise<boolean> {
  const taking = store.kv.atomic().set(keys.staging(id), mark);
  if (check !== undefined) taking.check(check);
  if (!(await taking.commit()).ok) return false;
  const found: Deno.KvKey[] = [];
  for await (const entry of store.kv.list({ prefix: keys.payloads(id) })) found.push(entry.key);
  for (let at = 0; at < found.length; at += 100) {
    const operation = store.kv.atomic();
    for (const key of found.slice(at, at + 100)) operation.delete(key);
    await operation.commit();
  }
  await store.kv.delete(keys.staging(id));
  return true;
}

/** Drops unpublished bodies whose mark is older than `LIMITS.stagingMs`. Returns how many. */
export async function sweepStaging(store: Store, nowMs: number, limit: number): Promise<number> {
  let swept = 0;
  for await (
    const entry of store.kv.list<Mark>({ prefix: keys.stagings() }, { limit })
  ) {
    const { key, value, versionstamp } = entry;
    if (value.atMs > nowMs - LIMITS.stagingMs) continue;
    if (await dropStaged(store, String(key[1]), value, { key, versionstamp })) swept++;
  }
  return swept;
}
