import { laneSettings } from "../settings.ts";
import type { Attempted } from "../targets.ts";
import { clocksStepped, endpointOf, hadTrouble, laneRow, type Scene } from "./scene.ts";

/** Starts may lag behind the moment they were allowed in by a few answers of the store. */
const LAG_MS = 1_000;
const TROUBLE_MS = 10_000;
/** Longest time over which starts are counted. */
const WINDOW_MS = 20_000;
/** As many may start together after a quiet time (`lib/store/rate.ts`). */
const BURST = 1;

/** All processes together start no more attempts than a lane's rate allows, probes aside. */
export class Rate {
  readonly #startsAtMs = new Map<string, number[]>();

  constructor(readonly scene: Scene) {}

  onSend({ deliveryId, by }: Attempted): void {
    const { scene } = this;
    const { nowMs } = scene.world;
    const endpoint = endpointOf(scene, deliveryId);
    const perSecond = endpoint === undefined ? undefined : laneSettings(endpoint).rateLimit;
    if (endpoint === undefined || perSecond === undefined || clocksStepped(scene)) return;
    // What was allowed earlier and held up by the store may start together with others.
    if (hadTrouble(scene, by, TROUBLE_MS)) return;
    if (laneRow(scene, endpoint)?.breaker.probe?.deliveryId === deliveryId) return;
    const starts = (this.#startsAtMs.get(endpoint) ?? []).filter((at) => at > nowMs - WINDOW_MS);
    starts.push(nowMs);
    this.#startsAtMs.set(endpoint, starts);
    for (const [index, fromMs] of starts.entries()) {
      const forMs = nowMs - fromMs + LAG_MS + scene.plan.skewMs;
      const n = starts.length - index;
      if (n <= perSecond * forMs / 1_000 + BURST) continue;
      return scene.violated("rate", `attempt ${n} within ${nowMs - fromMs} ms`, deliveryId);
    }
  }
}
