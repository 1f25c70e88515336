import type { DeliveryState } from "../model.ts";

/** All key shapes of the store, in one place. Routes and flows never see them. */

type Key = Deno.KvKey;

export const keys = {
  delivery: (endpoint: string, id: string): Key => ["delivery", endpoint, id],
  deliveries: (endpoint: string): Key => ["delivery", endpoint],
  allDeliveries: (): Key => ["delivery"],
  payload: (id: string, row: number): Key => ["payload", id, row],
  allPayloads: (): Key => ["payload"],
  payloads: (id: string): Key => ["payload", id],
  event: (endpoint: string, eventKey: string): Key => ["event", endpoint, eventKey],
  due: (endpoint: string, dueAtMs: number, id: string): Key => ["due", endpoint, dueAtMs, id],
  dues: (endpoint: string): Key => ["due", endpoint],
  dueBefore: (endpoint: string, beforeMs: number): Key => ["due", endpoint, beforeMs],
  allDues: (): Key => ["due"],
  dead: (endpoint: string, id: string): Key => ["dead", endpoint, id],
  deads: (endpoint: string): Key => ["dead", endpoint],
  allDeads: (): Key => ["dead"],
  lane: (endpoint: string): Key => ["lane", endpoint],
  lanes: (): Key => ["lane"],
  stat: (endpoint: string, minute: number, name: string): Key => ["stat", endpoint, minute, name],
  stats: (endpoint: string): Key => ["stat", endpoint],
  allStats: (): Key => ["stat"],
  active: (endpoint: string): Key => ["active", endpoint],
  actives: (): Key => ["active"],
  target: (endpoint: string): Key => ["target", endpoint],
  targets: (): Key => ["target"],
  rate: (endpoint: string): Key => ["lane", endpoint, "rate"],
  handshake: (endpoint: string): Key => ["watch", "handshake", endpoint],
  alarm: (second: number): Key => ["alarm", second],
  job: (id: string): Key => ["job", id],
  jobs: (): Key => ["job"],
  staging: (id: string): Key => ["staging", id],
  stagings: (): Key => ["staging"],
  /** The format of the store, a number. */
  schema: (): Key => ["schema"],
  /** How far a step to the next format has come. */
  migration: (): Key => ["schema", "migration"],
} as const;

/**
 * What a due entry holds, so that counting needs no records: 1 where its time is the end
 * of a lease, 0 where the delivery waits.
 */
export function dueValue({ state }: { state: DeliveryState }): number {
  return state === "in_flight" ? 1 : 0;
}

/** The place of one due entry, read from its key. */
export interface DueEntry {
  endpoint: string;
  dueAtMs: number;
  id: string;
}

/** Reads a key made by `keys.due`. */
export function dueEntry(key: Key): DueEntry {
  const [, endpoint, dueAtMs, id] = key;
  return { endpoint: String(endpoint), dueAtMs: Number(dueAtMs), id: String(id) };
}
