import { breakerIn } from "../../decide/lane.ts";
import { isOpen } from "../../states.ts";
import type { Clock } from "../../ports.ts";
import { relayLanesWithWork } from "../../store/active.ts";
import { countDead, countOpen } from "../../store/counts.ts";
import { readDelivery } from "../../store/door.ts";
import type { Store } from "../../store/kv.ts";
import { readTotals, type Totals } from "../../store/stats.ts";
import { minuteOf } from "../../store/write.ts";
import type { Lane, Lanes } from "../lanes.ts";

export interface OverviewParts {
  store: Store;
  lanes: Lanes;
  clock: Clock;
}

/** How a lane fares and what it holds. */
export interface Overview {
  lane: Lane;
  pending: number;
  inFlight: number;
  dead: number;
  oldestDeadAtMs?: number;
  oldestWaitingAtMs?: number;
  lastHour: Totals;
  /** Ordered lanes: the delivery that everything else waits for. */
  blockedBy?: { deliveryId: string; untilMs?: number };
}

const HOUR_MINUTES = 60;

/** All lanes worth a look: the configured ones, and those of relay mode that hold something. */
export async function shownLanes({ store, lanes }: OverviewParts): Promise<Lane[]> {
  const held = await relayLanesWithWork(store);
  await Promise.all(held.map((id) => lanes.find(id)));
  return [...lanes.all()];
}

/** Reads a lane's row and counts what it holds, of all processes. */
export async function overviewOf(parts: OverviewParts, lane: Lane): Promise<Overview> {
  const { store, lanes, clock } = parts;
  await lanes.reread(lane);
  const [open, dead, lastHour] = await Promise.all([
    countOpen(store, lane.id),
    countDead(store, lane.id),
    readTotals(store, lane.id, minuteOf(clock.nowMs()) - HOUR_MINUTES + 1),
  ]);
  return {
    lane,
    pending: open.pending,
    inFlight: open.inFlight,
    dead: dead.dead,
    oldestDeadAtMs: dead.oldestAtMs,
    oldestWaitingAtMs: await acceptedAtMs(store, lane.id, open.oldestId),
    lastHour,
    blockedBy: await blockedBy(parts, lane),
  };
}

/** When a delivery was accepted; `undefined` where there is none. */
export async function acceptedAtMs(
  store: Store,
  endpoint: string,
  id: string | undefined,
): Promise<number | undefined> {
  return id === undefined
    ? undefined
    : (await readDelivery(store, endpoint, id))?.value.acceptedAtMs;
}

async function blockedBy(
  { store, clock }: OverviewParts,
  lane: Lane,
): Promise<Overview["blockedBy"]> {
  const { head } = lane.row;
  if (!lane.endpoint.ordered || head === undefined) return undefined;
  const delivery = (await readDelivery(store, lane.id, head.id))?.value;
  if (delivery === undefined || !isOpen(delivery.state)) return undefined;
  const { openUntilMs = 0 } = breakerIn(lane.row, lane.endpoint.breaker);
  const untilMs = delivery.state === "pending"
    ? Math.max(delivery.dueAtMs ?? 0, openUntilMs)
    : undefined;
  const later = untilMs !== undefined && untilMs > clock.nowMs();
  return { deliveryId: head.id, ...(later ? { untilMs } : {}) };
}
