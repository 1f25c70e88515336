import { claimed } from "../decide/transition.ts";
import { isOpen } from "../states.ts";
import { change } from "../store/door.ts";
import { dropDue, readDue } from "../store/due.ts";
import type { DueEntry } from "../store/keys.ts";
import type { Store, StoredDelivery } from "../store/kv.ts";
import { Held } from "./held.ts";
import type { Lane } from "./lanes.ts";
import type { Slot, Work } from "./work.ts";

/** A claimed delivery with its place and the due time it had before. */
export interface Claim {
  held: Held;
  slot: Slot;
  previousDueAtMs: number;
}

/** A due entry whose record really waits at that time. */
export interface Candidate {
  entry: DueEntry;
  stored: StoredDelivery;
}

/**
 * Reads the records behind due entries. An entry that no record stands for is removed:
 * it can only be the rest of a fault, and would be looked at for ever.
 */
export async function candidates(
  store: Store,
  work: Work,
  entries: readonly DueEntry[],
): Promise<Candidate[]> {
  const free = entries.filter((entry) => !work.holds(entry.id));
  const records = await readDue(store, free);
  const found: Candidate[] = [];
  for (const [index, stored] of records.entries()) {
    const entry = free[index];
    const waits = stored !== undefined && isOpen(stored.value.state);
    if (!waits) await dropDue(store, entry, stored);
    else if (stored.value.dueAtMs === entry.dueAtMs) found.push({ entry, stored });
  }
  return found;
}

interface Parts {
  store: Store;
  work: Work;
  owner: string;
  onDue: (lane: Lane, atMs: number) => void;
}

/** After a failed read or write, and after a lost race, a lane is looked at again so soon. */
export const LOOK_PAUSE_MS = 1_000;

/**
 * Claims candidates while there is room, all in shared commits. What another process, or a
 * failing store, took from us is left out: nothing of ours will end and wake the lane for it,
 * so that is looked at again. `full`: candidates were left for want of room.
 */
export async function claim(
  { store, work, owner, onDue }: Parts,
  lane: Lane,
  wanted: readonly Candidate[],
): Promise<{ claims: Claim[]; full: boolean }> {
  const attempts: Promise<Claim | undefined>[] = [];
  let full = false;
  for (const candidate of wanted) {
    const { id, bytes } = candidate.stored.value;
    const slot = work.reserve(lane, id, bytes);
    full ||= slot === undefined;
    if (slot === undefined) break;
    attempts.push(claimOne(store, work, owner, candidate, slot));
  }
  const claims = (await Promise.all(attempts)).filter((one) => one !== undefined);
  if (claims.length < attempts.length) onDue(lane, store.clock.nowMs() + LOOK_PAUSE_MS);
  return { claims, full };
}

async function claimOne(
  store: Store,
  work: Work,
  owner: string,
  { entry, stored }: Candidate,
  slot: Slot,
): Promise<Claim | undefined> {
  try {
    const mine = await change(
      store,
      stored,
      claimed(stored.value, owner, store.clock.nowMs(), work.leaseEndMs()),
    );
    if (mine === false) {
      work.free(slot);
      return undefined;
    }
    const held = new Held(store, mine);
    work.hold(held, slot);
    return { held, slot, previousDueAtMs: entry.dueAtMs };
  } catch {
    // Unknown outcome: if it landed, the lease runs out and the delivery comes due again.
    work.free(slot);
    return undefined;
  }
}
