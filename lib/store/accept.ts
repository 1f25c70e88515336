import type { Delivery } from "../model.ts";
import { recordBytes } from "./door.ts";
import { dueValue, keys } from "./keys.ts";
import type { Store, StoredDelivery } from "./kv.ts";
import { activeMark } from "./relay_marks.ts";
import { minuteOf, type Mutation } from "./write.ts";

/** A new delivery with all that has to be stored in the same commit. */
export interface Acceptance {
  delivery: Delivery;
  /** Payload rows of this commit, and for a staged body the mark's removal. */
  rows: Mutation[];
  /** Size of the rows' values. */
  rowBytes: number;
  /** For a staged body that it is still there. */
  checks?: readonly Deno.AtomicCheck[];
  /** The claim on the event id; absent where duplicates are not looked for. */
  claim?: EventClaim;
}

export interface EventClaim {
  eventKey: string;
  windowMs: number;
  /** Version of an outlived claim that is to be replaced; `null` where none is stored. */
  replaces: string | null;
}

/**
 * Stores a delivery and claims its event id in one commit. `false`: the event id is
 * already claimed, or was while this looked, or a staged body is gone. Rejects with
 * `StoreUnavailable` where the outcome is unknown; `readClaim` settles it.
 */
export async function accept(
  store: Store,
  acceptance: Acceptance,
): Promise<StoredDelivery | false> {
  const { delivery, claim } = acceptance;
  const { endpoint, id } = delivery;
  if (delivery.dueAtMs === undefined) {
    throw new Error(`cannot accept delivery ${id}: it has no due time`);
  }
  const recordKey = keys.delivery(endpoint, id);
  const result = await store.committer.commit({
    checks: [
      claim === undefined
        ? { key: recordKey, versionstamp: null }
        : { key: keys.event(endpoint, claim.eventKey), versionstamp: claim.replaces },
      ...(acceptance.checks ?? []),
    ],
    mutations: [
      ...(claim === undefined ? [] : [claimMutation(endpoint, id, claim)]),
      { type: "set", key: recordKey, value: delivery },
      { type: "set", key: keys.due(endpoint, delivery.dueAtMs, id), value: dueValue(delivery) },
      ...activeMark(endpoint),
      ...acceptance.rows,
    ],
    bytes: recordBytes(delivery) + acceptance.rowBytes,
    counts: [{ endpoint, minute: minuteOf(delivery.acceptedAtMs), name: "accepted", n: 1 }],
  });
  return result.ok && { value: delivery, versionstamp: result.versionstamp };
}

function claimMutation(endpoint: string, id: string, claim: EventClaim): Mutation {
  return {
    type: "set",
    key: keys.event(endpoint, claim.eventKey),
    value: id,
    expireIn: claim.windowMs,
  };
}

/** Who claimed an event id, and the claim's version. */
export interface EventHolder {
  deliveryId: string;
  versionstamp: string;
}

/** Reads who claimed an event id. */
export async function readClaim(
  store: Store,
  endpoint: string,
  eventKey: string,
): Promise<EventHolder | undefined> {
  const entry = await store.kv.get<string>(keys.event(endpoint, eventKey));
  return entry.value === null
    ? undefined
    : { deliveryId: entry.value, versionstamp: entry.versionstamp };
}
