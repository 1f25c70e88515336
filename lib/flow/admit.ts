import { decodeTime } from "ulid";
import { released, revived } from "../decide/transition.ts";
import type { Endpoint } from "../endpoint.ts";
import { StoreUnavailable } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { Delivery, PayloadHead } from "../model.ts";
import type { Clock } from "../ports.ts";
import { accept, type EventClaim, type EventHolder, readClaim } from "../store/accept.ts";
import { change, readDelivery } from "../store/door.ts";
import type { Store, StoredDelivery } from "../store/kv.ts";
import { targetMark } from "../store/relay_marks.ts";
import { count, minuteOf, type Mutation } from "../store/write.ts";
import type { Drain } from "./drain.ts";
import { Held } from "./held.ts";
import type { Lane, Lanes } from "./lanes.ts";
import type { Schedule } from "./schedule.ts";
import type { Timeouts } from "./timeouts.ts";
import type { Slot, Work } from "./work.ts";

export interface AdmitParts {
  store: Store;
  clock: Clock;
  lanes: Lanes;
  work: Work;
  drain: Drain;
  schedule: Schedule;
  timeouts: Timeouts;
  owner: string;
  /** Deliveries whose sender was told 503 although their commit may yet land. */
  unanswered: Set<string>;
  /** After SIGTERM nothing is accepted any more. */
  isStopping: () => boolean;
}

/** A request that passed every check, ready to be stored. */
export interface Admission {
  deliveryId: string;
  eventId: string;
  claim?: { eventKey: string; windowMs: number };
  head: PayloadHead;
  bytes: number;
  sha256: string;
  chunks: number;
  rows: Mutation[];
  rowBytes: number;
  /** For a staged body that it is still there. */
  checks: readonly Deno.AtomicCheck[];
  whole: Uint8Array | undefined;
}

export interface Admitted {
  status: "accepted" | "duplicate" | "revived";
  /** The first delivery's id, for a repeat. */
  deliveryId: string;
  eventId: string;
}

/** Looks at a claimed event id so often before it gives up: each look is a lost race. */
const CLAIM_LOOKS = 10;

/**
 * Stores the delivery or recognises it as a repeat, within the store's budget. A first
 * try whose answer was lost is recognised by its own claim, so it is never a duplicate of
 * itself. Rejects with `StoreUnavailable` when the budget is used up.
 */
export async function admit(
  parts: AdmitParts,
  endpoint: Endpoint,
  admission: Admission,
): Promise<Admitted> {
  const done = await parts.timeouts.race(admitInTries(parts, endpoint, admission), BUDGET_MS, LATE);
  if (done !== LATE) return done as Admitted;
  remember(parts.unanswered, admission.deliveryId);
  throw new StoreUnavailable(`cannot store: no answer for ${BUDGET_MS} ms`);
}

/** Both tries with their pause; a read that hangs uses up what is left of it. */
const BUDGET_MS = LIMITS.storeTries * LIMITS.storeTryMs + LIMITS.storePauseMs;
const LATE = Symbol("late");

/**
 * One try after the other, never two at a time: a try whose commit is still out would
 * take the delivery that the next one takes for orphaned.
 */
async function admitInTries(
  parts: AdmitParts,
  endpoint: Endpoint,
  admission: Admission,
): Promise<Admitted> {
  for (let tries = 1;; tries++) {
    try {
      return await admitOnce(parts, endpoint, admission);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (tries === LIMITS.storeTries) {
        remember(parts.unanswered, admission.deliveryId);
        throw error;
      }
      await new Promise<void>((resolve) => parts.clock.after(LIMITS.storePauseMs, resolve));
    }
  }
}

const UNANSWERED_KEPT = 10_000;

function remember(unanswered: Set<string>, deliveryId: string): void {
  if (unanswered.size >= UNANSWERED_KEPT) unanswered.clear();
  unanswered.add(deliveryId);
}

async function admitOnce(
  parts: AdmitParts,
  endpoint: Endpoint,
  admission: Admission,
): Promise<Admitted> {
  const { deliveryId, eventId } = admission;
  let replaces: string | null = null;
  for (let looks = 0; looks < CLAIM_LOOKS; looks++) {
    const claim: EventClaim | undefined = admission.claim && { ...admission.claim, replaces };
    if (await storeNew(parts, endpoint, admission, claim)) {
      return { status: "accepted", deliveryId, eventId };
    }
    if (claim === undefined) return await adopt(parts, endpoint, admission);
    const claimed: EventHolder | undefined = await read(() =>
      readClaim(parts.store, endpoint.id, claim.eventKey)
    );
    const holder = claimed?.deliveryId;
    // A claim of an earlier try, or of an earlier request whose sender was told 503.
    const ours = holder === deliveryId || (holder !== undefined && parts.unanswered.delete(holder));
    if (ours) return await adopt(parts, endpoint, { ...admission, deliveryId: holder });
    const outlived = claimed !== undefined &&
      isOutlived(claimed.deliveryId, claim, parts.clock.nowMs());
    if (claimed !== undefined && !outlived) {
      return await repeat(parts, endpoint, claimed.deliveryId, eventId);
    }
    replaces = claimed?.versionstamp ?? null;
  }
  throw new StoreUnavailable(
    `cannot claim the event id on ${endpoint.id}: lost the race ${CLAIM_LOOKS} times`,
  );
}

/** KV removes expired keys late: the claim's age, not its presence, decides. */
function isOutlived(deliveryId: string, claim: EventClaim, nowMs: number): boolean {
  return decodeTime(deliveryId) + claim.windowMs <= nowMs;
}

/** Stores the delivery; where its lane is free it is this process's at once. */
async function storeNew(
  parts: AdmitParts,
  endpoint: Endpoint,
  admission: Admission,
  claim: EventClaim | undefined,
): Promise<boolean> {
  const lane = parts.lanes.get(endpoint.id);
  await read(() => lane === undefined ? Promise.resolve() : parts.lanes.refresh(lane));
  const slot = lane && firstClaim(parts, lane, admission);
  const delivery = newDelivery(parts, endpoint, admission, slot !== undefined);
  let stored: StoredDelivery | false = false;
  try {
    stored = await accept(parts.store, {
      delivery,
      rows: [...admission.rows, ...targetMark(endpoint)],
      rowBytes: admission.rowBytes + endpoint.targetUrl.length,
      checks: admission.checks,
      claim,
    });
  } finally {
    if (slot !== undefined && stored === false) giveBack(parts, slot);
  }
  if (stored === false) return false;
  if (slot === undefined) parts.schedule.wake(endpoint.id);
  else handOver(parts, slot, stored, admission);
  return true;
}

/** A place that was not needed after all: what found none meanwhile must not wait for it. */
function giveBack({ work, schedule }: AdmitParts, slot: Slot): void {
  work.free(slot);
  if (slot.lane.behind) schedule.wakeLane(slot.lane);
}

/**
 * The place for a delivery that needs no queueing: the lane sends freely and there is room
 * for the body. What is older than it may wait beside it: only ordered lanes promise order.
 */
function firstClaim(
  parts: AdmitParts,
  lane: Lane,
  { deliveryId, bytes, whole }: Admission,
): Slot | undefined {
  const { ordered, rateLimit } = lane.endpoint;
  if (whole === undefined || ordered || rateLimit !== undefined) return undefined;
  if (lane.gate(parts.clock.nowMs()).go !== "all" || lane.row.recovery !== undefined) {
    return undefined;
  }
  return parts.work.reserveFresh(lane, deliveryId, bytes);
}

function newDelivery(
  parts: AdmitParts,
  endpoint: Endpoint,
  admission: Admission,
  mine: boolean,
): Delivery {
  const { head, deliveryId: id, eventId, bytes, sha256, chunks } = admission;
  const acceptedAtMs = parts.clock.nowMs();
  return {
    id,
    endpoint: endpoint.id,
    eventId,
    ...(mine
      ? {
        state: "in_flight",
        lease: { owner: parts.owner, atMs: acceptedAtMs },
        dueAtMs: parts.work.leaseEndMs(),
      }
      : { state: "pending", dueAtMs: acceptedAtMs }),
    method: head.method,
    path: head.path,
    query: head.query,
    bytes,
    chunks,
    sha256,
    acceptedAtMs,
    attemptCount: 0,
    attempts: [],
    replays: 0,
    round: { attemptsBefore: 0, refunds: 0 },
  };
}

function handOver(
  parts: AdmitParts,
  slot: Slot,
  stored: StoredDelivery,
  { head, whole }: Admission,
): void {
  const held = new Held(parts.store, stored);
  parts.work.hold(held, slot);
  const body = whole ?? head.body;
  parts.drain.take({ held, slot, previousDueAtMs: stored.value.acceptedAtMs }, { head, body });
}

/** An earlier try did land, but nobody works on what it claimed: let the drain have it. */
async function adopt(
  parts: AdmitParts,
  endpoint: Endpoint,
  { deliveryId, eventId }: Admission,
): Promise<Admitted> {
  const found = await read(() => readDelivery(parts.store, endpoint.id, deliveryId));
  if (found === undefined) {
    throw new StoreUnavailable(`cannot store delivery ${deliveryId}: its body is gone`);
  }
  const orphaned = found.value.state === "in_flight" && found.value.lease?.owner === parts.owner &&
    !parts.work.isWorkingOn(deliveryId);
  if (orphaned) await change(parts.store, found, released(found.value, parts.clock.nowMs()));
  parts.schedule.wake(endpoint.id);
  return { status: "accepted", deliveryId, eventId };
}

/** A repeat revives a dead delivery, wakes a waiting one, and changes nothing else. */
async function repeat(
  parts: AdmitParts,
  endpoint: Endpoint,
  deliveryId: string,
  eventId: string,
): Promise<Admitted> {
  const nowMs = parts.clock.nowMs();
  const found = await read(() => readDelivery(parts.store, endpoint.id, deliveryId));
  count(parts.store, { endpoint: endpoint.id, minute: minuteOf(nowMs), name: "duplicate", n: 1 });
  const admitted = { deliveryId, eventId: found?.value.eventId ?? eventId };
  if (found?.value.state === "dead") {
    const alive = await change(parts.store, found, revived(found.value, nowMs));
    parts.schedule.wake(endpoint.id);
    if (alive !== false) return { status: "revived", ...admitted };
  }
  if (found?.value.state === "pending") parts.schedule.wake(endpoint.id);
  return { status: "duplicate", ...admitted };
}

/** A failed read counts against the same budget as a failed commit. */
async function read<T>(reading: () => Promise<T>): Promise<T> {
  try {
    return await reading();
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw new StoreUnavailable(`cannot read: ${(error as Error).message}`, { cause: error });
  }
}
