import { StoreUnavailable } from "../errors.ts";
import type { Delivery } from "../model.ts";
import type { Clock } from "../ports.ts";
import type { Committer } from "./commit.ts";

/** What Holdfast uses of Deno KV; a simulated one stands in for it in tests/sim. */
export type Kv = Pick<
  Deno.Kv,
  "get" | "getMany" | "list" | "set" | "delete" | "atomic" | "enqueue" | "listenQueue" | "close"
>;

/** The disk that a store in a file is on. */
export interface Disk {
  /** Whether so little is left that what is stored already needs it. */
  isShort(): boolean;
}

/** An open store: reads go to `kv`, all writes that matter through `committer`. */
export interface Store {
  kv: Kv;
  committer: Committer;
  clock: Clock;
  /** Absent where the store is in no file of ours. */
  disk?: Disk;
}

/** Call before new events are written. Throws `StoreUnavailable` where the disk is too full. */
export function requireRoom({ disk }: Store): void {
  if (disk?.isShort()) throw new StoreUnavailable("the disk has too little room for new events");
}

/** A value with the version it was read at or written with. */
export interface Versioned<T> {
  value: T;
  versionstamp: string;
}

export type StoredDelivery = Versioned<Delivery>;
