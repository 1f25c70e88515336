import type { LaneRow } from "../decide/lane.ts";
import type { Clock } from "../ports.ts";
import { countDead, COUNTED_UP_TO, countOpen } from "../store/counts.ts";
import { dueUntil } from "../store/due.ts";
import type { Store } from "../store/kv.ts";
import type { Family } from "./exposition.ts";

/** A lane as the gauges look at it. */
interface ShownLane {
  readonly id: string;
  readonly row: LaneRow;
  readonly inFlight: number;
}

export interface GaugeParts<Lane extends ShownLane> {
  lanes: { all(): Iterable<Lane>; refresh(lane: Lane): Promise<void> };
  store: Store;
  clock: Clock;
}

/** Whoever collects metrics waits about ten seconds; a store that hangs must not use them up. */
const READ_MS = 3_000;

const HEALTH = ["enabled", "failing", "disabled"] as const;

/**
 * How the lanes stand now. Rows are read again where they are older than a second. What
 * the store does not tell in time is left out; `holdfast_store_up` says whether it answers.
 */
export async function gauges<Lane extends ShownLane>(parts: GaugeParts<Lane>): Promise<Family[]> {
  const lanes = [...parts.lanes.all()];
  const [overdueMs, held] = await Promise.all([
    inTime(parts.clock, readLanes(parts, lanes)),
    inTime(parts.clock, countHeld(parts.store, lanes)),
  ]);
  return [
    byLane(
      "holdfast_in_flight",
      "Attempts of this process under way.",
      lanes,
      (lane) => lane.inFlight,
    ),
    gauge("holdfast_store_up", "Whether the store answered just now.", [
      { labels: {}, value: Number(overdueMs !== undefined) },
    ]),
    ...overdueMs === undefined ? [] : fates(lanes, overdueMs),
    ...held === undefined ? [] : heldFamilies(lanes, held),
  ];
}

/** What breaker, operator and health say of the lanes; alike in all processes. */
function fates(lanes: readonly ShownLane[], overdueMs: readonly number[]): Family[] {
  return [
    byLane(
      "holdfast_breaker_open",
      "Whether the lane's breaker is open.",
      lanes,
      ({ row }) => Number(row.breaker.phase === "open"),
    ),
    byLane(
      "holdfast_lane_paused",
      "Whether an operator paused the lane.",
      lanes,
      ({ row }) => Number(row.pausedAtMs !== undefined),
    ),
    byLane(
      "holdfast_overdue_seconds",
      "How long the lane's most urgent delivery has been due; 0 when none is.",
      lanes,
      (_lane, index) => overdueMs[index] / 1_000,
    ),
    gauge(
      "holdfast_lane_health",
      "1 for the status that the lane has.",
      lanes.flatMap(({ id, row }) =>
        HEALTH.map((status) => ({
          labels: { endpoint: id, status },
          value: Number(row.health.status === status),
        }))
      ),
    ),
  ];
}

function heldFamilies(lanes: readonly ShownLane[], held: readonly Held[]): Family[] {
  const bound = `counted up to ${COUNTED_UP_TO}.`;
  return [
    byLane(
      "holdfast_pending",
      `Deliveries that wait, ${bound}`,
      lanes,
      (_lane, index) => held[index].pending,
    ),
    byLane(
      "holdfast_dead_letters",
      `Deliveries that stopped trying, ${bound}`,
      lanes,
      (_lane, index) => held[index].dead,
    ),
  ];
}

/** Reads the rows anew; returns how long the first delivery of each lane has been due. */
async function readLanes<Lane extends ShownLane>(
  { lanes, store, clock }: GaugeParts<Lane>,
  shown: readonly Lane[],
): Promise<number[]> {
  return await Promise.all(shown.map(async (lane) => {
    await lanes.refresh(lane);
    const nowMs = clock.nowMs();
    const [first] = await dueUntil(store, lane.id, nowMs, 1);
    return first === undefined ? 0 : Math.max(0, nowMs - first.dueAtMs);
  }));
}

/** What a lane holds, of all processes. */
interface Held {
  pending: number;
  dead: number;
}

async function countHeld(store: Store, lanes: readonly ShownLane[]): Promise<Held[]> {
  return await Promise.all(lanes.map(async ({ id }) => {
    const [{ pending }, { dead }] = await Promise.all([countOpen(store, id), countDead(store, id)]);
    return { pending, dead };
  }));
}

/** The value, or `undefined` where reading failed or took too long. */
async function inTime<T>(clock: Clock, reading: Promise<T>): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const cancel = clock.after(READ_MS, () => resolve(undefined));
  try {
    return await Promise.race([reading.catch(() => undefined), promise]);
  } finally {
    cancel();
  }
}

function byLane<Lane extends ShownLane>(
  name: string,
  help: string,
  lanes: readonly Lane[],
  valueOf: (lane: Lane, index: number) => number,
): Family {
  const samples = lanes.map((lane, index) => ({
    labels: { endpoint: lane.id },
    value: valueOf(lane, index),
  }));
  return gauge(name, help, samples);
}

function gauge(name: string, help: string, samples: Family["samples"]): Family {
  return { name, help, type: "gauge", samples };
}
