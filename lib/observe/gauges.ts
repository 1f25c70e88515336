import type { LaneRow } from "../decide/lane.ts";
import type { Clock } from "../ports.ts";
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
 * How the lanes stand now. Rows are read again where they are older than a second. While
 * the store does not answer, what depends on it is left out and `holdfast_store_up` is 0.
 */
export async function gauges<Lane extends ShownLane>(parts: GaugeParts<Lane>): Promise<Family[]> {
  const lanes = [...parts.lanes.all()];
  const overdueMs = await inTime(parts.clock, readLanes(parts, lanes));
  const here = [
    gauge(
      "holdfast_in_flight",
      "Attempts of this process under way.",
      lanes.map(({ id, inFlight }) => ({ labels: { endpoint: id }, value: inFlight })),
    ),
    gauge("holdfast_store_up", "Whether the store answered just now.", [
      { labels: {}, value: Number(overdueMs !== undefined) },
    ]),
  ];
  return overdueMs === undefined ? here : [...here, ...shared(lanes, overdueMs)];
}

/** What all processes see alike, from the store. */
function shared(lanes: readonly ShownLane[], overdueMs: readonly number[]): Family[] {
  const flag = (value: (row: LaneRow) => boolean) =>
    lanes.map(({ id, row }) => ({ labels: { endpoint: id }, value: Number(value(row)) }));
  return [
    gauge(
      "holdfast_breaker_open",
      "Whether the lane's breaker is open.",
      flag((row) => row.breaker.phase === "open"),
    ),
    gauge(
      "holdfast_lane_paused",
      "Whether an operator paused the lane.",
      flag((row) => row.pausedAtMs !== undefined),
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
    gauge(
      "holdfast_overdue_seconds",
      "How long the lane's most urgent delivery has been due; 0 when none is.",
      lanes.map(({ id }, index) => ({ labels: { endpoint: id }, value: overdueMs[index] / 1_000 })),
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

function gauge(name: string, help: string, samples: Family["samples"]): Family {
  return { name, help, type: "gauge", samples };
}
