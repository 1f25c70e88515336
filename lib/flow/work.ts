import { hasRoom } from "../decide/room.ts";
import type { Clock } from "../ports.ts";
import type { Held } from "./held.ts";
import { heldBytesOf, type Lane } from "./lanes.ts";

/** A place in a lane, taken before the commit that claims a delivery. */
export interface Slot {
  lane: Lane;
  bytes: number;
  /** Taken for a delivery that is only now being accepted. */
  fresh: boolean;
}

/** What this process is working on: its places, its claims, its leases. */
export class Work {
  readonly #held = new Map<string, Held>();
  readonly #clock: Clock;
  readonly #leaseMs: number;
  #inFlight = 0;
  #heldBytes = 0;
  #cancelRenewal: (() => void) | undefined;
  #idle: (() => void)[] = [];

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  /** Takes a place for a newcomer, or `undefined` where none is free. */
  reserveFresh(lane: Lane, bodyBytes: number): Slot | undefined {
    return lane.fresh < lane.freshPlaces ? this.reserve(lane, bodyBytes, true) : undefined;
  }

  /** Takes a place for a body of so many bytes, or `undefined` where none is free. */
  reserve(lane: Lane, bodyBytes: number, fresh = false): Slot | undefined {
    const bytes = heldBytesOf(bodyBytes);
    const load = {
      inFlight: this.#inFlight,
      heldBytes: this.#heldBytes,
      laneInFlight: lane.inFlight,
      laneHeldBytes: lane.heldBytes,
      lanePlaces: lane.places,
    };
    if (!hasRoom(load, bytes)) return undefined;
    const slot = { lane, bytes, fresh };
    this.#count(slot, 1);
    return slot;
  }

  free(slot: Slot): void {
    this.#count(slot, -1);
    if (this.#inFlight === 0) { for (const resolve of this.#idle.splice(0)) resolve(); }
  }

  /** Keeps a claim's lease alive until `drop`. */
  hold(held: Held): void {
    this.#held.set(held.delivery.id, held);
    this.#renewLater();
  }

  drop(held: Held): void {
    this.#held.delete(held.delivery.id);
  }

  holds(deliveryId: string): boolean {
    return this.#held.has(deliveryId);
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
