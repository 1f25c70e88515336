import type { Delivery } from "../model.ts";
import type { Clock } from "../ports.ts";
import type { Committer } from "./commit.ts";

/** What Holdfast uses of Deno KV; a simulated one stands in for it in tests/sim. */
export type Kv = Pick<
  Deno.Kv,
  "get" | "getMany" | "list" | "set" | "delete" | "atomic" | "enqueue" | "listenQueue" | "close"
>;

/** An open store: reads go to `kv`, all writes that matter through `committer`. */
export interface Store {
  kv: Kv;
  committer: Committer;
  clock: Clock;
}

/** A value with the version it was read at or written with. */
export interface Versioned<T> {
  value: T;
  versionstamp: string;
}

export type StoredDelivery = Versioned<Delivery>;
