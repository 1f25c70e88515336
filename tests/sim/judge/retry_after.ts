import { isOpen } from "../../../lib/states.ts";
import type { Attempted, Heard } from "../targets.ts";
import type { Actor } from "../world.ts";
import { clockErrorMs, isAttempted, type Moved, type Scene } from "./scene.ts";

/** What a target asked for in answer to one attempt, in world time. */
interface Asked {
  attempt: number;
  by: Actor;
  untilMs: number;
}

/** `Retry-After` given to a delivery is a lower bound for its next attempt, whoever makes it. */
export class RetryAfter {
  /** Heard by a process; what is not stored dies with it. */
  readonly #heard = new Map<string, Asked>();
  readonly #stored = new Map<string, Asked>();

  constructor(readonly scene: Scene) {}

  onHeard({ deliveryId, attempt, by, ...answer }: Heard): void {
    if (!("retryAfter" in answer) || answer.retryAfter === undefined) return;
    const untilMs = this.scene.world.nowMs + Number(answer.retryAfter) * 1_000;
    this.#heard.set(deliveryId, { attempt, by, untilMs });
  }

  onMoved(moved: Moved): void {
    const { before, after, by } = moved;
    if (after === undefined) return;
    const replayed = before !== undefined && !isOpen(before.state) && isOpen(after.state);
    if (replayed || isAttempted(moved)) this.#stored.delete(after.id);
    const asked = this.#heard.get(after.id);
    const told = isAttempted(moved) && asked?.by === by && asked.attempt === after.attemptCount;
    if (told) this.#stored.set(after.id, asked);
  }

  onSend({ deliveryId, attempt }: Attempted): void {
    const { world, violated } = this.scene;
    const asked = this.#stored.get(deliveryId);
    if (asked === undefined) return;
    const earlyMs = asked.untilMs - world.nowMs - clockErrorMs(this.scene);
    if (earlyMs <= 1) return;
    violated("retry_after", `attempt ${attempt} came ${earlyMs} ms before its time`, deliveryId);
  }
}
