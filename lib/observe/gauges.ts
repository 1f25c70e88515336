import type { LaneRow } from "../decide/lane.ts";
import { isRelayLane } from "../ids.ts";
import type { Clock } from "../ports.ts";
import { countDead, type Counted, COUNTED_UP_TO, countOpen, RELAY_LANES } from "../store/counts.ts";
import { dueUntil } from "../store/due.ts";
import type { Store } from "../store/kv.ts";
import type { Family } from "./exposition.ts";
import { OTHER } from "./metrics.ts";

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
  /** Absent where relay mode is off. */
  relayMode?: unknown;
}

/** What is told under one label: a configured lane, or all of relay mode's together. */
interface Group<Lane extends ShownLane> {
  label: string;
  lanes: readonly Lane[];
  counted: readonly Counted[];
}

/** Whoever collects metrics waits about ten seconds; a store that hangs must not use them up. */
const READ_MS = 3_000;

const HEALTH = ["enabled", "failing", "disabled"] as const;

/**
 * How the lanes stand now. Rows are read again where they are older than a second. What
 * the store does not tell in time is left out; `holdfast_store_up` says whether it answers.
 */
export async function gauges<Lane extends ShownLane>(parts: GaugeParts<Lane>): Promise<Family[]> {
  const groups = groupsOf(parts);
  const [overdueMs, held] = await Promise.all([
    inTime(parts.clock, readLanes(parts, groups)),
    inTime(parts.clock, countHeld(parts.store, groups)),
  ]);
  return [
    byGroup(
      "holdfast_in_flight",
      "Attempts of this process under way.",
      groups,
      ({ lanes }) => lanes.reduce((sum, lane) => sum + lane.inFlight, 0),
    ),
    gauge("holdfast_store_up", "Whether the store answered just now.", [
      { labels: {}, value: Number(overdueMs !== undefined) },
    ]),
    ...overdueMs === undefined ? [] : fates(groups, overdueMs),
    ...held === undefined ? [] : heldFamilies(groups, held),
  ];
}

/** A lane of relay mode has no label of its own, as in the counters. */
function groupsOf<Lane extends ShownLane>({ lanes, relayMode }: GaugeParts<Lane>): Group<Lane>[] {
  const byLabel = Map.groupBy(lanes.all(), ({ id }) => isRelayLane(id) ? OTHER : id);
  if (relayMode !== undefined && !byLabel.has(OTHER)) byLabel.set(OTHER, []);
  return Array.from(byLabel, ([label, lanes]) => {
    const counted: Counted[] = lanes.map(({ id }) => id).filter((id) => !isRelayLane(id));
    if (label === OTHER && relayMode !== undefined) counted.push(RELAY_LANES);
    return { label, lanes, counted };
  });
}

/** What breaker, operator and health say of the lanes; alike in all processes. */
function fates(groups: readonly Group<ShownLane>[], overdueMs: readonly number[]): Family[] {
  return [
    byGroup(
      "holdfast_breaker_open",
      "Lanes whose breaker is open.",
      groups,
      count(({ row }) => row.breaker.phase === "open"),
    ),
    byGroup(
      "holdfast_lane_paused",
      "Lanes that an operator paused.",
      groups,
      count(({ row }) => row.pausedAtMs !== undefined),
    ),
    byGroup(
      "holdfast_overdue_seconds",
      "How long the lane's most urgent delivery has been due; 0 when none is.",
      groups,
      (_group, index) => overdueMs[index] / 1_000,
    ),
    gauge(
      "holdfast_lane_health",
      "Lanes that have the status.",
      groups.flatMap((group) =>
        HEALTH.map((status) => ({
          labels: { endpoint: group.label, status },
          value: count(({ row }) => row.health.status === status)(group),
        }))
      ),
    ),
  ];
}

function count(has: (lane: ShownLane) => boolean): (group: Group<ShownLane>) => number {
  return ({ lanes }) => lanes.filter(has).length;
}

function heldFamilies(groups: readonly Group<ShownLane>[], held: readonly Held[]): Family[] {
  const bound = `counted up to ${COUNTED_UP_TO}.`;
  return [
    byGroup(
      "holdfast_pending",
      `Deliveries that wait, ${bound}`,
      groups,
      (_group, index) => held[index].pending,
    ),
    byGroup(
      "holdfast_dead_letters",
      `Deliveries that stopped trying, ${bound}`,
      groups,
      (_group, index) => held[index].dead,
    ),
  ];
}

/**
 * Reads the rows anew; returns how long the first delivery of each group has been due.
 * Relay mode's lanes are too many for that: their rows are as this process used them last.
 */
async function readLanes<Lane extends ShownLane>(
  { lanes, store, clock }: GaugeParts<Lane>,
  groups: readonly Group<Lane>[],
): Promise<number[]> {
  return await Promise.all(groups.map(async (group) => {
    const configured = group.lanes.filter(({ id }) => !isRelayLane(id));
    await Promise.all(configured.map((lane) => lanes.refresh(lane)));
    const nowMs = clock.nowMs();
    const dueAtMs = await Promise.all(
      group.counted.map((counted) => firstDueAtMs(store, counted, nowMs)),
    );
    return nowMs - Math.min(nowMs, ...dueAtMs);
  }));
}

async function firstDueAtMs(store: Store, counted: Counted, nowMs: number): Promise<number> {
  if (counted === RELAY_LANES) return (await countOpen(store, counted)).firstDueAtMs ?? nowMs;
  return (await dueUntil(store, counted, nowMs, 1)).at(0)?.dueAtMs ?? nowMs;
}

/** What a group holds, of all processes. */
interface Held {
  pending: number;
  dead: number;
}

async function countHeld(store: Store, groups: readonly Group<ShownLane>[]): Promise<Held[]> {
  return await Promise.all(groups.map(async ({ counted }) => {
    const open = await Promise.all(counted.map((one) => countOpen(store, one)));
    const dead = await Promise.all(counted.map((one) => countDead(store, one)));
    return {
      pending: open.reduce((sum, one) => sum + one.pending, 0),
      dead: dead.reduce((sum, one) => sum + one.dead, 0),
    };
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

function byGroup<Lane extends ShownLane>(
  name: string,
  help: string,
  groups: readonly Group<Lane>[],
  valueOf: (group: Group<Lane>, index: number) => number,
): Family {
  const samples = groups.map((group, index) => ({
    labels: { endpoint: group.label },
    value: valueOf(group, index),
  }));
  return gauge(name, help, samples);
}

function gauge(name: string, help: string, samples: Family["samples"]): Family {
  return { name, help, type: "gauge", samples };
}
