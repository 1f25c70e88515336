import { hasRoom } from "../decide/room.ts";
import type { Clock } from "../ports.ts";
import type { Held } from "./held.ts";
import { heldBytesOf, type Lane } from "./lanes.ts";

/** A place in a lane, taken before the commit that claims a delivery. */
export interface Slot {
  lane: Lane;
  deliveryId: string;
  bytes: number;
  /** Taken for a delivery that is only now being accepted. */
  fresh: boolean;
  /** The claim is not known to be stored. */
  claiming: boolean;
}

/** What this process is working on: its places, its claims, its leases. */
export class Work {
  readonly #held = new Map<string, Held>();
  /** How many claims of a delivery are being stored. */
  readonly #claiming = new Map<string, number>();
  readonly #clock: Clock;
  readonly #leaseMs: number;
  #inFlight = 0;
  #heldBytes = 0;
  #cancelRenewal: (() => void) | undefined;
  #idle: (() => void)[] = [];
  #refusing = false;

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  /** Gives no more places away: the process ends. */
  refuse(): void {
    this.#refusing = true;
  }

  /** Takes a place for a newcomer, or `undefined` where none is free. */
  reserveFresh(lane: Lane, deliveryId: string, bodyBytes: number): Slot | undefined {
    return lane.fresh < lane.freshPlaces
      ? this.reserve(lane, deliveryId, bodyBytes, true)
      : undefined;
  }

  /** Takes a place for a body of so many bytes, or `undefined` where none is free. */
  reserve(lane: Lane, deliveryId: string, bodyBytes: number, fresh = false): Slot | undefined {
    const bytes = heldBytesOf(bodyBytes);
    const load = {
      inFlight: this.#inFlight,
      heldBytes: this.#heldBytes,
      laneInFlight: lane.inFlight,
      laneHeldBytes: lane.heldBytes,
      lanePlaces: lane.places,
    };
    if (this.#refusing || !hasRoom(load, bytes)) return undefined;
    const slot = { lane, deliveryId, bytes, fresh, claiming: true };
    this.#claiming.set(deliveryId, (this.#claiming.get(deliveryId) ?? 0) + 1);
    this.#count(slot, 1);
    return slot;
  }

  free(slot: Slot): void {
    this.#claimed(slot);
    this.#count(slot, -1);
    if (this.#inFlight === 0) { for (const resolve of this.#idle.splice(0)) resolve(); }
  }

  /** Keeps a stored claim's lease alive until `drop`. */
  hold(held: Held, slot: Slot): void {
    this.#held.set(held.delivery.id, held);
    this.#claimed(slot);
    this.#renewLater();
  }

  drop(held: Held): void {
    this.#held.delete(held.delivery.id);
  }

  holds(deliveryId: string): boolean {
    return this.#held.has(deliveryId);
  }

  /**
   * Whether a claim of this process stands, or may yet be found to: its commit can be seen in
   * the store before its answer is here.
   */
  isWorkingOn(deliveryId: string): boolean {
    return this.holds(deliveryId) || this.#claiming.has(deliveryId);
  }

  held(): Held[] {
    return [...this.#held.values()];
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Resolves once nothing is under way. */
  whenIdle(): Promise<void> {
    return this.#inFlight === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#idle.push(resolve));
  }

  /** When a claim made now runs out. */
  leaseEndMs(): number {
    return this.#clock.nowMs() + this.#leaseMs;
  }

  /** Ends the renewals; leases then run out by themselves. */
  close(): void {
    this.#cancelRenewal?.();
    this.#cancelRenewal = undefined;
  }

  #claimed(slot: Slot): void {
    if (!slot.claiming) return;
    slot.claiming = false;
    const others = this.#claiming.get(slot.deliveryId)! - 1;
    if (others === 0) this.#claiming.delete(slot.deliveryId);
    else this.#claiming.set(slot.deliveryId, others);
  }

  #count({ lane, bytes, fresh }: Slot, n: 1 | -1): void {
    this.#inFlight += n;
    this.#heldBytes += n * bytes;
    lane.inFlight += n;
    lane.heldBytes += n * bytes;
    if (fresh) lane.fresh += n;
  }

  /** Leases are renewed at each third, so that one failed renewal costs nothing. */
  #renewLater(): void {
    this.#cancelRenewal ??= this.#clock.after(this.#leaseMs / 3, () => {
      this.#cancelRenewal = undefined;
      const endMs = this.leaseEndMs();
      for (const held of this.#held.values()) this.#renewIfOlder(held, endMs);
      if (this.#held.size > 0) this.#renewLater();
    });
  }

  /** A lease that ends later than a new one is that of a clock which was set back since. */
  #renewIfOlder(held: Held, endMs: number): void {
    const ageMs = endMs - (held.delivery.dueAtMs ?? endMs);
    if (Math.abs(ageMs) >= this.#leaseMs / 6) held.renew(endMs);
  }
}
