import { breakerAfter } from "../decide/breaker.ts";
import { withoutProbe } from "../decide/lane.ts";
import { dueAfter, dueUntil } from "../store/due.ts";
import { type Candidate, candidates, type Claim, claim } from "./claim.ts";
import type { DrainParts } from "./drain.ts";
import type { Lane } from "./lanes.ts";
import { candidateOf, claimHead, headOf } from "./ordered.ts";

/** Waiting deliveries looked at for a probe. */
const SIGHT = 100;

/**
 * Takes an open lane's one probe, over all processes, and claims a delivery for it.
 * Empty where nothing waits or another process was first.
 */
export async function probe(parts: DrainParts, lane: Lane): Promise<Claim[]> {
  const known = lane.row.head;
  const candidate = await choose(parts, lane);
  if (candidate === undefined) return [];
  const { id } = candidate.stored.value;
  if (!await takeProbe(parts, lane, id)) return [];
  const claims = lane.endpoint.ordered
    ? await claimHead(parts, lane, candidate, known)
    : (await claim(parts, lane, [candidate])).claims;
  if (claims.length === 0) {
    await parts.lanes.update(lane, (row) => withoutProbe(row, parts.owner, id));
  }
  return claims;
}

async function takeProbe(
  { lanes, owner, clock, leaseMs }: DrainParts,
  lane: Lane,
  deliveryId: string,
): Promise<boolean> {
  const { breaker: settings, timeoutMs } = lane.endpoint;
  // The lease outlives the attempt's own time limit, so that two probes never overlap.
  const probeLeaseMs = Math.max(leaseMs, timeoutMs + 1_000);
  await lanes.update(lane, (row) => {
    const atMs = clock.nowMs();
    // What another process wrote meanwhile counts: it may have been paused.
    if (lane.gate(atMs, row).go !== "probe") return row;
    const event = { type: "probe", owner, deliveryId, atMs, leaseMs: probeLeaseMs } as const;
    const breaker = breakerAfter(row.breaker, event, settings);
    return breaker === row.breaker ? row : { ...row, breaker };
  });
  const taken = lane.row.breaker.probe;
  return taken?.owner === owner && taken.deliveryId === deliveryId;
}

/**
 * The oldest that is due by its own schedule, else the oldest that waits; not the last one
 * again. Where the target put all of them off, the lane is looked at again in time.
 */
async function choose(parts: DrainParts, lane: Lane): Promise<Candidate | undefined> {
  const nowMs = parts.clock.nowMs();
  if (lane.endpoint.ordered) return await chooseHead(parts, lane, nowMs);
  const due = await dueUntil(parts.store, lane.id, nowMs, SIGHT);
  const later = await dueAfter(parts.store, lane.id, nowMs, SIGHT);
  const last = lane.row.breaker.lastProbedId;
  const waiting = [
    ...oldestFirst(await candidates(parts.store, parts.work, due)),
    ...oldestFirst(await candidates(parts.store, parts.work, later)).filter((one) =>
      mayGoEarly(one, nowMs)
    ),
  ];
  if (waiting.length === 0 && later.length > 0) parts.onDue(lane, later[0].dueAtMs);
  return waiting.find(({ stored }) => stored.value.id !== last) ?? waiting[0];
}

async function chooseHead(
  parts: DrainParts,
  lane: Lane,
  nowMs: number,
): Promise<Candidate | undefined> {
  const head = await headOf(parts, lane, nowMs);
  if (head === undefined) return undefined;
  const candidate = candidateOf(head);
  const { dueAtMs } = candidate.entry;
  if (dueAtMs <= nowMs || mayGoEarly(candidate, nowMs)) return candidate;
  parts.onDue(lane, dueAtMs);
  return undefined;
}

function oldestFirst(found: Candidate[]): Candidate[] {
  return found.toSorted((a, b) => a.entry.id < b.entry.id ? -1 : 1);
}

/** Not one that another process works on, nor one the target itself put off. */
function mayGoEarly({ stored: { value } }: Candidate, nowMs: number): boolean {
  return value.state === "pending" && (value.notBeforeMs ?? 0) <= nowMs;
}
