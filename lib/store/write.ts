import type { Store } from "./kv.ts";

/** One caller's atomic write, before it shares a commit with others. */
export interface Write {
  /** All must hold, or nothing of this write is applied. */
  checks: Deno.AtomicCheck[];
  mutations: Mutation[];
  /** Estimated size of all values, in bytes. */
  bytes: number;
  counts?: readonly Count[];
}

export type Mutation =
  | { type: "set"; key: Deno.KvKey; value: unknown; expireIn?: number }
  | { type: "delete"; key: Deno.KvKey };

/** Adds `n` to a counter of this minute; summed over a batch before it is written. */
export interface Count {
  endpoint: string;
  minute: number;
  name: CountName;
  n: number;
}

export type CountName =
  | "accepted"
  | "duplicate"
  | "attempts"
  | "failed"
  | "delivered"
  | "dead"
  | "replayed";

export type WriteResult = { ok: true; versionstamp: string } | { ok: false };

/** Counts something that changes nothing else. A lost count is no loss worth an error. */
export function count(store: Store, one: Count): void {
  store.committer.commit({ checks: [], mutations: [], bytes: 0, counts: [one] }).catch(() => {});
}

/** The minute a counter belongs to. */
export function minuteOf(atMs: number): number {
  return Math.floor(atMs / 60_000);
}
