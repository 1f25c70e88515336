import { createHash } from "node:crypto";
import { isAllowedTarget } from "../decide/relay_targets.ts";
import type { Endpoint } from "../endpoint.ts";
import { isRelayLane, relayLaneId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import type { Clock, Observe } from "../ports.ts";
import type { RelaySettings } from "../relay_settings.ts";
import { activeLanes, dropActive, hasDue, readTarget } from "../store/active.ts";
import type { Store } from "../store/kv.ts";
import type { Lane, Lanes } from "./lanes.ts";

/** The endpoint of a target URL, made as it is asked for; `undefined` where it is not allowed. */
export function relayEndpoint(settings: RelaySettings, targetUrl: string): Endpoint | undefined {
  if (!isAllowedTarget(targetUrl, settings.targets)) return undefined;
  const id = relayLaneId(createHash("sha256").update(targetUrl).digest("hex"));
  return { ...settings.endpoint, id, targetUrl };
}

/**
 * The endpoint of a lane that was used before. `undefined` where its target is not allowed
 * any more: so what waits for it stays where it is, and nothing is sent.
 */
export async function storedEndpoint(
  store: Store,
  settings: RelaySettings | undefined,
  id: string,
): Promise<Endpoint | undefined> {
  if (settings === undefined || !isRelayLane(id)) return undefined;
  const targetUrl = await readTarget(store, id);
  return targetUrl === undefined ? undefined : relayEndpoint(settings, targetUrl);
}

interface Parts {
  store: Store;
  clock: Clock;
  lanes: Lanes;
  observe: Observe;
  settings: RelaySettings | undefined;
  wake: (lane: Lane) => void;
}

/**
 * Relay mode's lanes: in memory only while they have work, however many there ever were. A
 * sweep finds what an earlier process or another one left, and forgets what became idle.
 */
export class RelayLanes {
  readonly #parts: Parts;
  #looking: Promise<boolean> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Looks once over all active lanes; who asks meanwhile waits for the same look. Resolves to
   * whether the store let it see all of them; never rejects.
   */
  look(): Promise<boolean> {
    if (this.#parts.settings === undefined) return Promise.resolve(true);
    return this.#looking ??= this.#look()
      .then(() => true, (error) => this.#failed(error))
      .finally(() => this.#looking = undefined);
  }

  async #look(): Promise<void> {
    const { store, lanes } = this.#parts;
    const active = await activeLanes(store);
    const unknown = active.filter((id) => lanes.get(id) === undefined);
    await Promise.all(unknown.map((id) => this.#wake(id)));
    const idle = [...lanes.all()].filter((lane) => this.#isIdle(lane));
    await Promise.all(idle.map((lane) => this.#forget(lane)));
  }

  async #wake(id: string): Promise<void> {
    const { lanes, wake } = this.#parts;
    const lane = await lanes.find(id);
    if (lane !== undefined) wake(lane);
  }

  /** Recently wanted lanes stay: most have more to come. */
  #isIdle(lane: Lane): boolean {
    const sinceMs = this.#parts.clock.monotonicMs() - lane.wantedAtMs;
    return isRelayLane(lane.id) && lane.inFlight === 0 && lane.saving === undefined &&
      sinceMs >= LIMITS.sweepMs;
  }

  async #forget(lane: Lane): Promise<void> {
    const { store, lanes } = this.#parts;
    if (await hasDue(store, lane.id) || !this.#isIdle(lane)) return;
    // First out of memory: what is accepted from here on makes a lane of its own.
    lanes.forget(lane);
    if (!await dropActive(store, lane.id)) await this.#wake(lane.id);
  }

  #failed({ message }: Error): boolean {
    const { clock, observe } = this.#parts;
    observe({ type: "store_error", atMs: clock.nowMs(), doing: "look for relay lanes", message });
    return false;
  }
}
