import { decodeTime } from "ulid";
import type { Delivery } from "../../../lib/model.ts";
import type { Answered } from "../posts.ts";
import { laneSettings } from "../settings.ts";
import { clockErrorMs, type Moved, type Scene } from "./scene.ts";

/** What an endpoint without a `dedupWindow` has. */
const WINDOW_MS = 30 * 86_400_000;

/** Within the window one event is one delivery, however often and wherever it arrives; past it, none is a repeat. */
export class Events {
  readonly #latest = new Map<string, Delivery>();

  constructor(readonly scene: Scene) {}

  onMoved({ before, after }: Moved): void {
    if (before !== undefined || after === undefined) return;
    const { world, violated } = this.scene;
    const { endpoint, eventId, id } = after;
    const first = this.#latest.get(`${endpoint}/${eventId}`);
    this.#latest.set(`${endpoint}/${eventId}`, after);
    if (first === undefined) return;
    const ageMs = world.nowMs - decodeTime(first.id);
    if (ageMs + clockErrorMs(this.scene) < windowMs(endpoint)) {
      violated("duplicate", `event ${eventId} was stored twice, first as ${first.id}`, id);
    }
  }

  onAnswer({ event: { id, endpoint }, result, postedAtMs }: Answered): void {
    if (result.kind !== "stored" || result.status === "accepted") return;
    const ageMs = postedAtMs - decodeTime(result.deliveryId);
    if (ageMs > windowMs(endpoint) + clockErrorMs(this.scene)) {
      const detail = `${id} was taken for a repeat ${ageMs} ms after the first`;
      this.scene.violated("window", detail, result.deliveryId);
    }
  }
}

const windowMs = (endpoint: string) => laneSettings(endpoint).dedupWindowMs ?? WINDOW_MS;
