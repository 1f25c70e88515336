import type { Attempt, Delivery } from "../../../lib/model.ts";
import { isOpen } from "../../../lib/states.ts";
import { laneSettings } from "../settings.ts";
import type { Attempted, Heard } from "../targets.ts";
import {
  clockErrorMs,
  clocksStepped,
  endpointOf,
  isAttempted,
  isClaim,
  isProbe,
  type Moved,
  type Scene,
} from "./scene.ts";

/** A claim as it was made: whether for a breaker's probe, and when its delivery was due before. */
interface KnownClaim {
  probe: boolean;
  dueAtMs: number;
}

/**
 * An outage costs no attempts: while a breaker is open nothing counts but a probe that was
 * due by its own schedule and met a target that answers. And an outage kills nothing.
 */
export class Outages {
  readonly #claims = new Map<string, KnownClaim>();
  /** World time at which each delivery's last attempt began, and the first one of its round. */
  readonly #sentAtMs = new Map<string, number>();
  readonly #roundAtMs = new Map<string, number>();
  /** World time at which a lane's target last did something that is not outage-like. */
  readonly #answeredAtMs = new Map<string, number>();

  constructor(readonly scene: Scene) {}

  onSend({ deliveryId }: Attempted): void {
    const { nowMs } = this.scene.world;
    this.#sentAtMs.set(deliveryId, nowMs);
    if (!this.#roundAtMs.has(deliveryId)) this.#roundAtMs.set(deliveryId, nowMs);
  }

  onHeard(heard: Heard): void {
    if (!isOutageLike(heard)) this.#answered(endpointOf(this.scene, heard.deliveryId));
  }

  onMoved(moved: Moved): void {
    const { before, after } = moved;
    if (after === undefined) return;
    if (isClaim(moved)) {
      const dueAtMs = before?.dueAtMs ?? after.acceptedAtMs;
      this.#claims.set(after.id, { probe: isProbe(this.scene, moved), dueAtMs });
    }
    if (isAttempted(moved)) this.#attempted(after, after.attempts.at(-1)!);
    const reopened = before !== undefined && !isOpen(before.state) && isOpen(after.state);
    if (reopened) this.#roundAtMs.delete(after.id);
  }

  #attempted(delivery: Delivery, attempt: Attempt): void {
    const { scene } = this;
    const { id, endpoint } = delivery;
    // A delivery whose process ends time and again uses itself up: that is no outage.
    if (attempt.code === "lost") return this.#answered(endpoint);
    const counts = attempt.outcome === "retry" || attempt.outcome === "dead";
    const claim = this.#claims.get(id);
    if (!counts || claim === undefined || laneSettings(endpoint).breaker === false) return;
    if (claim.probe && isOutageLike(attempt)) {
      scene.violated("outage", `attempt ${attempt.n} probed an outage and was counted`, id);
    }
    const early = claim.dueAtMs > (this.#sentAtMs.get(id) ?? Infinity) + clockErrorMs(scene);
    if (claim.probe && early && attempt.outcome === "retry") {
      scene.violated("outage", `attempt ${attempt.n} was an early probe and was counted`, id);
    }
    if (delivery.reason === "exhausted" || delivery.reason === "expired") this.#died(delivery);
  }

  /** Death of its attempts asks for a target that was there while they were made. */
  #died({ id, endpoint, reason }: Delivery): void {
    const { scene } = this;
    const since = this.#roundAtMs.get(id) ?? -Infinity;
    const answered = (this.#answeredAtMs.get(endpoint) ?? -Infinity) >= since;
    if (answered || clocksStepped(scene) || isRetargeted(scene, endpoint)) return;
    scene.violated("outage", `an outage alone made it ${reason}`, id);
  }

  #answered(endpoint: string | undefined): void {
    if (endpoint !== undefined) this.#answeredAtMs.set(endpoint, this.scene.world.nowMs);
  }
}

/** Processes with different targets do not share one breaker. */
function isRetargeted({ plan }: Scene, endpoint: string): boolean {
  return plan.actions.some((one) => one.do === "retarget" && one.endpoint === endpoint);
}

const OUTAGE_STATUSES = new Set<number | undefined>([502, 503, 504]);
const OWN_CODES = new Set<string | undefined>(["aborted", "payload_missing", "lost"]);

function isOutageLike(result: { status?: number; code?: string }): boolean {
  if (result.code !== undefined) return !OWN_CODES.has(result.code);
  return OUTAGE_STATUSES.has(result.status);
}
