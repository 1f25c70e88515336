import { isFree } from "../decide/lane.ts";
import type { Clock } from "../ports.ts";
import { readDelivery } from "../store/door.ts";
import { dueAfter, dueUntil } from "../store/due.ts";
import type { Store, StoredDelivery } from "../store/kv.ts";
import { isOpen } from "../states.ts";
import { type Candidate, type Claim, claim } from "./claim.ts";
import type { Lane, Lanes } from "./lanes.ts";
import { isLetOut } from "./recovery.ts";
import type { Work } from "./work.ts";

interface Parts {
  store: Store;
  lanes: Lanes;
  work: Work;
  clock: Clock;
  owner: string;
  leaseMs: number;
}

interface Found {
  claims: Claim[];
  lookAgainAtMs?: number;
}

/**
 * The next delivery of a lane in strict order: its head, until that is settled. The lane
 * remembers its head before the head's due entry moves, so that no crash and no other
 * process can take the second for the first.
 */
export async function ordered(parts: Parts, lane: Lane): Promise<Found> {
  const nowMs = parts.clock.nowMs();
  const { lease } = lane.row;
  if (!isFree(lease, parts.owner, nowMs)) return { claims: [], lookAgainAtMs: lease?.untilMs };
  const head = await headOf(parts, lane, nowMs);
  if (head === undefined) {
    const [next] = await dueAfter(parts.store, lane.id, nowMs, 1);
    return { claims: [], lookAgainAtMs: next?.dueAtMs };
  }
  const { dueAtMs = nowMs } = head.value;
  const early = lane.row.recovery !== undefined &&
    isLetOut(head.value, lane.row.recovery.atMs, nowMs);
  if (dueAtMs > nowMs && !early) return { claims: [], lookAgainAtMs: dueAtMs };
  return { claims: await claimHead(parts, lane, candidateOf(head)) };
}

/** The delivery that everything else in the lane waits for. */
export async function headOf(
  parts: Parts,
  lane: Lane,
  nowMs: number,
): Promise<StoredDelivery | undefined> {
  const known = lane.row.head === undefined
    ? undefined
    : await readDelivery(parts.store, lane.id, lane.row.head);
  if (known !== undefined && isOpen(known.value.state)) return known;
  const [first] = await dueUntil(parts.store, lane.id, nowMs, 1);
  return first && await readDelivery(parts.store, lane.id, first.id);
}

/** Makes a delivery the head, in this process's lease, and claims it. */
export async function claimHead(parts: Parts, lane: Lane, candidate: Candidate): Promise<Claim[]> {
  const { owner, leaseMs, lanes, clock, store, work } = parts;
  const { id } = candidate.stored.value;
  if (work.holds(id)) return [];
  await lanes.update(lane, (row) => {
    const nowMs = clock.nowMs();
    if (!isFree(row.lease, owner, nowMs)) return row;
    return { ...row, lease: { owner, untilMs: nowMs + leaseMs }, head: id };
  });
  if (lane.row.lease?.owner !== owner || lane.row.head !== id) return [];
  return (await claim(store, work, owner, lane, [candidate])).claims;
}

/** A stored delivery as a candidate with its present due time. */
export function candidateOf(stored: StoredDelivery): Candidate {
  const { endpoint, id, dueAtMs = 0 } = stored.value;
  return { entry: { endpoint, dueAtMs, id }, stored };
}
