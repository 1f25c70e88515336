import {
  type Condition,
  conditionsOf,
  gravestFirst,
  type RemovedLane,
} from "../../decide/conditions.ts";
import { breakerIn } from "../../decide/lane.ts";
import { shownTarget } from "../../decide/relay_targets.ts";
import { isRelayLane } from "../../ids.ts";
import { readTarget } from "../../store/active.ts";
import { countOpen } from "../../store/counts.ts";
import { lanesWithDue } from "../../store/due.ts";
import { addTotals, type Totals } from "../../store/stats.ts";
import type { Faults } from "../faults.ts";
import type { Housekeeping } from "../housekeeping.ts";
import type { QueueState, QueueWaker, SchedulerMode } from "../queue_waker.ts";
import type { Schedule } from "../schedule.ts";
import {
  acceptedAtMs,
  type Overview,
  overviewOf,
  type OverviewParts,
  shownLanes,
} from "./overview.ts";

export interface StatusParts extends OverviewParts {
  schedule: Schedule;
  queue: QueueWaker;
  housekeeping: Housekeeping;
  faults: Faults;
  /** Watches something of its own and says what is wrong with it. */
  github: { conditions(): Promise<Condition[]> };
}

/** The whole relay at one look. */
export interface Status {
  atMs: number;
  scheduler: { mode: SchedulerMode; queue: QueueState; sweptAtMs: number };
  lanes: Overview[];
  removed: RemovedLane[];
  lastHour: Totals;
  oldestWaitingAtMs?: number;
  conditions: Condition[];
}

/** Looks at all lanes and says what needs an operator's attention. */
export async function statusOf(parts: StatusParts): Promise<Status> {
  const shown = await shownLanes(parts);
  const lanes = await Promise.all(shown.map((lane) => overviewOf(parts, lane)));
  const removed = await removedLanes(parts);
  const { schedule, queue, clock } = parts;
  const atMs = clock.nowMs();
  const sweptAgoMs = clock.monotonicMs() - schedule.sweptAtMs;
  const decided = conditionsOf({
    nowMs: atMs,
    lanes: lanes.map(laneSnapshot),
    removed,
    queue: { asked: queue.mode === "queue", unavailableSinceMs: queue.unavailableSinceMs },
    storeErrors: parts.faults.recent(atMs),
    sweptAgoMs,
    pruneBehindSinceMs: parts.housekeeping.behindSinceMs,
  });
  const conditions = gravestFirst([...decided, ...await parts.github.conditions()]);
  return {
    atMs,
    scheduler: { mode: queue.mode, queue: queue.state, sweptAtMs: atMs - sweptAgoMs },
    lanes,
    removed,
    lastHour: addTotals(lanes.map((lane) => lane.lastHour)),
    oldestWaitingAtMs: oldestOf([...lanes, ...removed]),
    conditions,
  };
}

function laneSnapshot({ lane, pending, inFlight, ...overview }: Overview) {
  const { row, endpoint } = lane;
  return {
    endpoint: endpoint.id,
    health: row.health,
    pausedAtMs: row.pausedAtMs,
    breaker: breakerIn(row, endpoint.breaker),
    waiting: pending + inFlight,
    oldestWaitingAtMs: overview.oldestWaitingAtMs,
    dead: overview.dead,
    oldestDeadAtMs: overview.oldestDeadAtMs,
  };
}

async function removedLanes({ store, lanes }: StatusParts): Promise<RemovedLane[]> {
  const gone = (await lanesWithDue(store)).filter((name) => lanes.get(name) === undefined);
  return await Promise.all(gone.map(async (endpoint) => {
    const { pending, inFlight, oldestId } = await countOpen(store, endpoint);
    const oldestWaitingAtMs = await acceptedAtMs(store, endpoint, oldestId);
    const targetUrl = isRelayLane(endpoint) ? await readTarget(store, endpoint) : undefined;
    const target = targetUrl && shownTarget(targetUrl);
    return { endpoint, target, waiting: pending + inFlight, oldestWaitingAtMs };
  }));
}

function oldestOf(all: readonly { oldestWaitingAtMs?: number }[]): number | undefined {
  const times = all.map((one) => one.oldestWaitingAtMs).filter((atMs) => atMs !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}
