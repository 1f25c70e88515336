import type { LaneRow } from "../../../lib/decide/lane.ts";
import type { Delivery } from "../../../lib/model.ts";
import type { Process } from "../process.ts";
import { laneSettings } from "../settings.ts";
import { isOpen } from "../../../lib/states.ts";
import {
  type Claim,
  clocksStepped,
  hadTrouble,
  isClaim,
  isProbe,
  laneRow,
  recordsOf,
  type Rule,
  type Scene,
} from "./scene.ts";

/** A lane's row may be a second old, and reading on takes a few answers of the store. */
const OLDEST_ROW_MS = 1_500;
const TROUBLE_MS = 30_000;

/** No two live leases on one delivery: only a lapsed one is taken over. */
export const leasesAreRespected: Rule = (scene, { before, after, by }) => {
  if (before?.state !== "in_flight" || before.lease?.owner === by.name) return;
  if (clocksStepped(scene)) return;
  const lapsed = (before.dueAtMs ?? 0) <= scene.world.nowMs + scene.plan.skewMs;
  if (!lapsed) {
    const became = after === undefined ? "deleted" : after.state;
    scene.violated(
      "lease",
      `${by.name} wrote ${became} over the live lease of ${before.lease?.owner}`,
      before.id,
    );
  }
};

interface HeldSince {
  /** By an operator or as disabled, in world time. */
  heldAtMs: number | undefined;
  /** By its breaker. */
  openAtMs: number | undefined;
}

/** Since when each lane has not been allowed to send. */
const closedSince = new WeakMap<Scene, Map<string, HeldSince>>();

/** Notes when a lane's row begins to hold its deliveries. */
export function noteLane(scene: Scene, endpoint: string): void {
  let lanes = closedSince.get(scene);
  if (lanes === undefined) closedSince.set(scene, lanes = new Map());
  const row = laneRow(scene, endpoint);
  const { heldAtMs, openAtMs } = lanes.get(endpoint) ?? {};
  const { nowMs } = scene.world;
  lanes.set(endpoint, {
    heldAtMs: isHeld(row) ? heldAtMs ?? nowMs : undefined,
    openAtMs: row?.breaker.phase === "open" ? openAtMs ?? nowMs : undefined,
  });
}

const isHeld = (row: LaneRow | undefined) =>
  row !== undefined && (row.pausedAtMs !== undefined || row.health.status === "disabled");

/**
 * One probe at a time, over all processes: a live one is not replaced, but for its owner's
 * own that was never made because the store would not say whether it had been claimed.
 */
export function probesAreSingle(
  scene: Scene,
  before: LaneRow,
  after: LaneRow,
  by: Process,
): void {
  const [old, next] = [before.breaker.probe, after.breaker.probe];
  if (old === undefined || next === undefined || clocksStepped(scene)) return;
  const same = old.owner === next.owner && old.deliveryId === next.deliveryId;
  const lives = old.untilMs > scene.world.nowMs + scene.plan.skewMs;
  const gaveUp = old.owner === by.name && hadTrouble(scene, by, TROUBLE_MS);
  if (!same && lives && !gaveUp) {
    scene.violated("probe", `${next.owner} probes beside ${old.owner}`, next.deliveryId);
  }
}

/** While a lane is held nothing is attempted but the open breaker's probe. */
export const heldLanesRest: Rule = (scene, moved) => {
  if (!isClaim(moved)) return;
  const { after, by } = moved;
  const { heldAtMs, openAtMs } = closedSince.get(scene)?.get(after.endpoint) ?? {};
  const isOld = (sinceMs: number | undefined) =>
    sinceMs !== undefined && scene.world.nowMs - sinceMs >= OLDEST_ROW_MS;
  const held = isOld(heldAtMs);
  if (!held && (!isOld(openAtMs) || isProbe(scene, moved))) return;
  if (hadTrouble(scene, by, TROUBLE_MS)) return;
  // A process whose clock is ahead may have taken its probe over in the moment it was begun.
  const probe = laneRow(scene, after.endpoint)?.breaker.probe;
  if (!held && clocksStepped(scene) && probe?.deliveryId === after.id) return;
  const why = held ? "paused or disabled" : "open";
  scene.violated("breaker", `${by.name} claimed it while its lane was ${why}`, after.id);
};

/** Order in ordered lanes: nothing is tried while an older delivery is not settled. */
export const orderIsKept: Rule = (scene, moved) => {
  if (!isClaim(moved) || clocksStepped(scene)) return;
  const { after } = moved;
  if (!laneSettings(after.endpoint).ordered) return;
  const placeMs = placeOf(scene, moved);
  for (const other of recordsOf(scene, after.endpoint)) {
    if (other.id === after.id || !isOpen(other.state)) continue;
    if (other.state === "in_flight") {
      scene.violated("order", `claimed while ${other.id} was in flight`, after.id);
    } else if (wasStarted(other) && !wasStarted(after)) {
      scene.violated("order", `claimed while ${other.id} was between attempts`, after.id);
    } else if (wasStoredFirst(scene, other, after) && isBefore(scene, other, after, placeMs)) {
      scene.violated("order", `claimed before ${other.id}, which was accepted earlier`, after.id);
    }
  }
};

/** Whether a delivery has been tried in its present round. */
const wasStarted = ({ attemptCount, round }: Delivery) => attemptCount > round.attemptsBefore;

/** Of two that were under way to the store together, neither came first. */
function wasStoredFirst({ storedAtMs }: Scene, one: Delivery, other: Delivery): boolean {
  return (storedAtMs.get(one.id) ?? 0) <= (storedAtMs.get(other.id) ?? 0);
}

const places = new WeakMap<Scene, Map<string, number>>();

/** Where a delivery stands in its lane: a head that was given back unattempted keeps its place. */
function placeOf(scene: Scene, { before, after }: Claim): number {
  let known = places.get(scene);
  if (known === undefined) places.set(scene, known = new Map());
  const round = `${after.id}/${after.replays}`;
  const first = after.round.attemptsBefore === 0 && after.replays === 0;
  const placeMs = known.get(round) ??
    (first ? after.acceptedAtMs : before?.dueAtMs ?? after.acceptedAtMs);
  known.set(round, placeMs);
  return placeMs;
}

/** Both wait for their first attempt, and the clocks cannot be wrong about who came first. */
function isBefore({ plan }: Scene, other: Delivery, after: Delivery, placeMs: number): boolean {
  return !wasStarted(other) && !wasStarted(after) &&
    (other.dueAtMs ?? 0) + 2 * plan.skewMs < placeMs - ARRIVAL_MS;
}

/** A commit in the queue may land after that of a later arrival. */
const ARRIVAL_MS = 50;
