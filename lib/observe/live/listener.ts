import type { NumberedEvent } from "../../store/feed.ts";
import { type Position, positionText } from "./position.ts";

/** Where a listener's events go. */
export interface Outlet {
  /** Takes text of the stream. `false`: the outlet is full or gone, and takes no more. */
  write(text: string): boolean;
  /** Resolves once there is room again. */
  ready(): Promise<void>;
  /** Ends the stream. */
  end(): void;
}

/** Events that may wait while a listener still catches up with what it missed. */
const MAX_WAITING = 2_000;

/** One listener: how far it has come, and what waits until it has caught up. */
export class Listener {
  readonly position: Position;
  readonly #outlet: Outlet;
  #waiting: { owner: string; event: NumberedEvent }[] | undefined = [];

  constructor(outlet: Outlet, position: Position) {
    this.#outlet = outlet;
    this.position = position;
  }

  /** Takes an event that has just happened. `false`: the listener is too slow. */
  take(owner: string, event: NumberedEvent): boolean {
    if (this.#waiting === undefined) return this.#tell(owner, event);
    this.#waiting.push({ owner, event });
    return this.#waiting.length <= MAX_WAITING;
  }

  /** Tells an event of the past, at the pace of whoever reads. */
  async catchUp(owner: string, event: NumberedEvent): Promise<void> {
    this.#tell(owner, event);
    await this.#outlet.ready();
  }

  /** From now on events are told as they happen; those that waited come first. */
  goLive(): boolean {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    // An id without data moves the reader's Last-Event-ID and tells it nothing.
    const greeted = this.#outlet.write(`id: ${positionText(this.position)}\n\n`);
    return waiting.every(({ owner, event }) => this.#tell(owner, event)) && greeted;
  }

  heartbeat(): boolean {
    return this.#outlet.write(": heartbeat\n\n");
  }

  end(): void {
    this.#outlet.end();
  }

  /** Every event once, however many ways it came. */
  #tell(owner: string, { seq, type, data }: NumberedEvent): boolean {
    if (seq <= (this.position.get(owner) ?? 0)) return true;
    this.position.set(owner, seq);
    const id = positionText(this.position);
    return this.#outlet.write(`id: ${id}\nevent: ${type}\ndata: ${data}\n\n`);
  }
}
