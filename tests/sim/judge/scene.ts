import type { LaneRow } from "../../../lib/decide/lane.ts";
import type { Delivery, PayloadHead } from "../../../lib/model.ts";
import { keys } from "../../../lib/store/keys.ts";
import type { Database } from "../kv/database.ts";
import type { Plan } from "../plan.ts";
import type { Process } from "../process.ts";
import type { Targets } from "../targets.ts";
import type { Actor, World } from "../world.ts";

/** What a judge can look at. */
export interface Scene {
  plan: Plan;
  world: World;
  database: Database;
  targets: Targets;
  /** Processes that ended, and when. */
  endedAtMs: Map<string, number>;
  /** Those that were not asked to. */
  killedAtMs: Map<string, number>;
  /** World time at which each delivery was stored. */
  storedAtMs: Map<string, number>;
  /** What was deleted after it was settled, as it was then. */
  pruned: Map<string, Delivery>;
  /** When all faults stopped, in world time. */
  calmAtMs: number | undefined;
  /** Steps of clocks, and when they were made. */
  steps: { atMs: number; byMs: number }[];
  /** Notes a broken promise; `about` is the delivery's id. */
  violated: (rule: string, detail: string, about?: string) => void;
}

/** One delivery's record before and after a commit. */
export interface Moved {
  before: Delivery | undefined;
  after: Delivery | undefined;
  by: Process;
}

/** Looks at each change of a delivery in the moment it is made. */
export type Rule = (scene: Scene, moved: Moved) => void;

/** Whether a process took the delivery in this commit, be it new, waiting or lapsed. */
export function isClaim(moved: Moved): moved is Claim {
  const { before, after } = moved;
  return after?.state === "in_flight" &&
    (before?.state !== "in_flight" || before.lease?.owner !== after.lease?.owner ||
      before.lease?.atMs !== after.lease?.atMs);
}

export type Claim = Moved & { after: Delivery };

/** Whether the result of an attempt was written. */
export function isAttempted({ before, after }: Moved): boolean {
  return after !== undefined && after.attemptCount > (before?.attemptCount ?? 0);
}

/** Whether a claim is that of the open breaker's probe. */
export function isProbe(scene: Scene, { after, by }: Claim): boolean {
  const probe = laneRow(scene, after.endpoint)?.breaker.probe;
  return probe?.deliveryId === after.id && probe.owner === by.name;
}

/** The lane of a stored delivery. */
export function endpointOf({ database }: Scene, deliveryId: string): string | undefined {
  const row = database.rows.peek(keys.payload(deliveryId, 0)) as PayloadHead | undefined;
  return row?.endpoint;
}

export function laneRow({ database }: Scene, endpoint: string): LaneRow | undefined {
  return database.rows.peek(keys.lane(endpoint)) as LaneRow | undefined;
}

/** All records of one endpoint as they lie in the store. */
export function recordsOf({ database }: Scene, endpoint: string): Delivery[] {
  const rows = database.rows.under(keys.deliveries(endpoint));
  return Array.from(rows, ({ value }) => value as Delivery);
}

/** Whether a process had trouble with its store lately: its knowledge may be older than usual. */
export function hadTrouble({ database, world }: Scene, by: Actor, withinMs: number): boolean {
  return database.hadTrouble(by, world.nowMs - withinMs, world.nowMs);
}

/** Clocks that were stepped void every promise about whose lease lives. */
export function clocksStepped({ steps }: Scene): boolean {
  return steps.length > 0;
}

/** How far two clocks may be apart. */
export function clockErrorMs({ plan, steps }: Scene): number {
  return steps.reduce((sum, { byMs }) => sum + Math.abs(byMs), plan.skewMs);
}
