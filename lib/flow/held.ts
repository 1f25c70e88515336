import { released, renewed } from "../decide/transition.ts";
import type { Delivery } from "../model.ts";
import type { Clock } from "../ports.ts";
import { change, type Extra, readDelivery } from "../store/door.ts";
import type { Store, StoredDelivery } from "../store/kv.ts";

/** Pause before a settle is tried again while the store is away. */
const SETTLE_PAUSE_MS = 500;

/**
 * One delivery that this process has claimed. Its changes run one after another, so that
 * a lease's renewal and the settling of the attempt never race each other.
 */
export class Held {
  #store: Store;
  #stored: StoredDelivery;
  #last: Promise<unknown> = Promise.resolve();
  /** Another process has taken over: nothing this one writes is accepted any more. */
  lost = false;
  /** Calls off the running attempt. */
  readonly abort: AbortController = new AbortController();

  constructor(store: Store, stored: StoredDelivery) {
    this.#store = store;
    this.#stored = stored;
  }

  get delivery(): Delivery {
    return this.#stored.value;
  }

  /** Moves the lease's end. A failing store is no loss: the next renewal comes soon. */
  renew(leaseEndMs: number): Promise<void> {
    return this.#inTurn(async () => {
      if (this.lost || this.delivery.state !== "in_flight") return;
      await this.#change(renewed(this.delivery, leaseEndMs)).catch(() => {});
    });
  }

  /** Gives the delivery back, due at `dueAtMs`. */
  release(dueAtMs: number): Promise<void> {
    return this.#inTurn(async () => {
      if (this.lost || this.delivery.state !== "in_flight") return;
      await this.#change(released(this.delivery, dueAtMs)).catch(() => {});
    });
  }

  /**
   * Settles the attempt: `next` makes the new record from the present one. Tries until
   * the store has answered: an attempt that was made must not be made again because its
   * result was not written. `false`: the lease was lost and nothing was written.
   */
  settle(next: (delivery: Delivery) => Delivery, extra: Extra): Promise<boolean> {
    return this.#inTurn(async () => {
      const after = next(this.delivery);
      while (!this.lost) {
        try {
          if (await this.#change(after, extra)) return true;
        } catch {
          await pause(this.#store.clock, SETTLE_PAUSE_MS);
        }
      }
      return false;
    });
  }

  /**
   * Writes over the version that is known. After a lost answer a newer one may be ours: look
   * instead of guessing. `false`: another process has taken over.
   */
  async #change(after: Delivery, extra?: Extra): Promise<boolean> {
    while (!this.lost) {
      const written = await change(this.#store, this.#stored, after, extra);
      const is = written || await this.#found(after);
      if (is === undefined) this.lost = true;
      else this.#stored = is;
      if (is?.value === after) return true;
    }
    return false;
  }

  /** What is stored, as far as it is this claim's: renewed, or `after` itself. */
  async #found(after: Delivery): Promise<StoredDelivery | undefined> {
    const found = await readDelivery(this.#store, after.endpoint, after.id);
    if (found === undefined) return undefined;
    if (isSameClaim(found.value, this.delivery)) return found;
    // What has become of it since is others' business: nothing more is written here.
    return isSettledBy(found.value, after, this.delivery) ? { ...found, value: after } : undefined;
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#last.then(step);
    this.#last = result.catch(() => {});
    return result;
  }
}

function isSameClaim(found: Delivery, claimed: Delivery): boolean {
  return found.state === "in_flight" && found.attemptCount === claimed.attemptCount &&
    found.lease?.owner === claimed.lease?.owner && found.lease?.atMs === claimed.lease?.atMs;
}

/** Whether the attempt that `after` records, and the claim does not, is on record. */
function isSettledBy(found: Delivery, after: Delivery, claimed: Delivery): boolean {
  const ours = after.attempts.at(-1);
  const last = found.attempts.at(-1);
  // Who takes over notes the attempt, too, as a lost one.
  return after.attemptCount > claimed.attemptCount && last?.n === ours?.n &&
    last?.atMs === ours?.atMs && last?.code === ours?.code;
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
