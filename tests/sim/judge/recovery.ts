import type { LaneRow } from "../../../lib/decide/lane.ts";
import type { Delivery } from "../../../lib/model.ts";
import { isOpen } from "../../../lib/states.ts";
import type { Process } from "../process.ts";
import { ALL_SETTINGS, laneSettings, longest } from "../settings.ts";
import { clocksStepped, laneRow, recordsOf, type Scene } from "./scene.ts";

/** For a handful of attempts one after the other at a target that is well. */
const SOON_MS = 6_000;
const ATTEMPT_MS = 150;

/**
 * A breaker that closes lets out what waited at once, not after its own back-off. Looked at
 * once all faults have stopped, so that nothing but the relay can hold it up.
 */
export class Recovery {
  /** Who knows best about each lane: the process that wrote its row last. */
  readonly #writers = new Map<string, Process>();

  constructor(readonly scene: Scene) {}

  /** All faults have stopped: what still opens a breaker is an attempt from before. */
  onCalm(): void {
    const afterMs = longest(({ timeoutMs }) => timeoutMs) + SOON_MS;
    this.scene.world.after(afterMs, () => {
      for (const { id } of ALL_SETTINGS) this.#probeIsPrompt(id);
    });
  }

  onLane(before: LaneRow, after: LaneRow, endpoint: string, by: Process): void {
    const { scene } = this;
    this.#writers.set(endpoint, by);
    const closed = before.breaker.phase === "open" && after.breaker.phase === "closed";
    if (!closed || scene.calmAtMs === undefined || clocksStepped(scene)) return;
    const atMs = scene.world.nowMs;
    const waited = recordsOf(scene, endpoint).filter((one) => one.state === "pending");
    const { rateLimit } = laneSettings(endpoint);
    const paceMs = rateLimit === undefined ? ATTEMPT_MS : ATTEMPT_MS + 1_000 / rateLimit;
    scene.world.after(SOON_MS + paceMs * recordsOf(scene, endpoint).length, () => {
      if (!by.alive || by.stopping || isHeld(scene, endpoint)) return;
      const now = new Map(recordsOf(scene, endpoint).map((one) => [one.id, one]));
      for (const { id } of waited) this.#judge(now.get(id), atMs);
    });
  }

  /** An open breaker of a target that is well closes with the probe, and that is made in time. */
  #probeIsPrompt(endpoint: string): void {
    const { scene } = this;
    const row = laneRow(scene, endpoint);
    const by = this.#writers.get(endpoint);
    if (row?.breaker.phase !== "open" || by === undefined || clocksStepped(scene)) return;
    const { openUntilMs = 0, probe } = row.breaker;
    const atMs = Math.max(scene.world.nowMs, openUntilMs, probe?.untilMs ?? 0);
    const waits = recordsOf(scene, endpoint).some((one) =>
      one.state === "pending" && (one.notBeforeMs ?? 0) < atMs
    );
    if (!waits) return;
    scene.world.after(atMs - scene.world.nowMs + scene.plan.skewMs + SOON_MS, () => {
      const now = laneRow(scene, endpoint);
      const same = now?.breaker.openUntilMs === openUntilMs && !isPaused(now);
      const goesOn = by.alive && !by.stopping;
      if (!same || !goesOn || now.breaker.phase === "closed") return;
      if (isHeadLeased(scene, endpoint)) return;
      scene.violated("probe", `no probe on ${endpoint} ${SOON_MS} ms after its time`);
    });
  }

  #judge(delivery: Delivery | undefined, closedAtMs: number): void {
    if (delivery?.state !== "pending") return;
    const { world, plan, violated } = this.scene;
    const putOff = (delivery.notBeforeMs ?? 0) + plan.skewMs >= closedAtMs;
    if (putOff || delivery.attempts.some(({ atMs }) => atMs + plan.skewMs >= closedAtMs)) return;
    violated("recovery", `still waits ${world.nowMs - closedAtMs} ms after it`, delivery.id);
  }
}

/** A head whose claim got no answer holds its ordered lane until its lease is over. */
function isHeadLeased(scene: Scene, endpoint: string): boolean {
  if (!laneSettings(endpoint).ordered) return false;
  const [head] = recordsOf(scene, endpoint).filter(({ state }) => isOpen(state))
    .toSorted((a, b) => a.id < b.id ? -1 : 1);
  return head?.state === "in_flight" && (head.dueAtMs ?? 0) + SOON_MS > scene.world.nowMs;
}

function isHeld(scene: Scene, endpoint: string): boolean {
  const row = laneRow(scene, endpoint);
  return row === undefined || isPaused(row) || row.breaker.phase === "open";
}

function isPaused({ pausedAtMs, health }: LaneRow): boolean {
  return pausedAtMs !== undefined || health.status === "disabled";
}
