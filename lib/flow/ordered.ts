import { isFree, isSameHead, type LaneHead } from "../decide/lane.ts";
import { LIMITS } from "../limits.ts";
import type { Clock } from "../ports.ts";
import { readDelivery } from "../store/door.ts";
import { dueAfter, dueUntil } from "../store/due.ts";
import type { Store, StoredDelivery } from "../store/kv.ts";
import { isOpen } from "../states.ts";
import { type Candidate, type Claim, claim, LOOK_PAUSE_MS } from "./claim.ts";
import type { Lane, Lanes } from "./lanes.ts";
import { isLetOut } from "./recovery.ts";
import type { Work } from "./work.ts";

interface Parts {
  store: Store;
  lanes: Lanes;
  work: Work;
  clock: Clock;
  owner: string;
  onDue: (lane: Lane, atMs: number) => void;
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
  const { lease, head: known } = lane.row;
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
  return { claims: await claimHead(parts, lane, candidateOf(head), known) };
}

/** The delivery that everything else in the lane waits for. */
export async function headOf(
  parts: Parts,
  lane: Lane,
  nowMs: number,
): Promise<StoredDelivery | undefined> {
  const { head } = lane.row;
  const known = head && await readDelivery(parts.store, lane.id, head.id);
  if (known !== undefined && isOpen(known.value.state) && isSameHead(head, markOf(known))) {
    return known;
  }
  const [first] = await dueUntil(parts.store, lane.id, nowMs, 1);
  return first && await readDelivery(parts.store, lane.id, first.id);
}

/**
 * The lane's lease only spares others a vain look while a head is being claimed: the head
 * itself keeps them out from then on, whichever process works on it.
 */
const CLAIM_MS = LIMITS.storeTryMs + 1_000;

/**
 * Makes a delivery the head, in this process's lease, and claims it. `known` is the head
 * that it was chosen after: where there is another one by now, the choice is void.
 */
export async function claimHead(
  parts: Parts,
  lane: Lane,
  candidate: Candidate,
  known: LaneHead | undefined,
): Promise<Claim[]> {
  const { owner, lanes, clock, work } = parts;
  const head = markOf(candidate.stored);
  if (work.holds(head.id)) return [];
  await lanes.update(lane, (row) => {
    const nowMs = clock.nowMs();
    const isVoid = !isSameHead(row.head, known) && !isSameHead(row.head, head);
    if (isVoid || !isFree(row.lease, owner, nowMs)) return row;
    return { ...row, lease: { owner, untilMs: nowMs + CLAIM_MS }, head };
  });
  if (lane.row.lease?.owner !== owner || !isSameHead(lane.row.head, head)) {
    // Another process was first: when its head is settled it need not know of this one.
    parts.onDue(lane, clock.nowMs() + LOOK_PAUSE_MS);
    return [];
  }
  return (await claim(parts, lane, [candidate])).claims;
}

function markOf({ value: { id, round } }: StoredDelivery): LaneHead {
  return { id, attemptsBefore: round.attemptsBefore };
}

/** A stored delivery as a candidate with its present due time. */
export function candidateOf(stored: StoredDelivery): Candidate {
  const { endpoint, id, dueAtMs = 0 } = stored.value;
  return { entry: { endpoint, dueAtMs, id }, stored };
}
