import type { Clock, RelayEvent } from "../../ports.ts";
import { appendFeed, isListenedTo } from "../../store/feed.ts";
import type { Store } from "../../store/kv.ts";
import { isTold, liveEvent } from "./event.ts";

type Told = Parameters<typeof liveEvent>[0];

/** While nobody listens the store is asked at most so often, and only when something happens. */
const LOOK_MS = 1_000;
/** While somebody listens events are written together so often. */
const FLUSH_MS = 100;
/** Events kept for the next write. What comes on top is told to listeners of this process only. */
const MAX_PENDING = 2_000;

/**
 * Tells other processes what happens in this one. Events wait until it is known whether
 * somebody listens, so that a listener misses none of the second in which it came.
 */
export class Publisher {
  readonly #store: Store;
  readonly #owner: string;
  readonly #clock: Clock;
  #pending: { seq: number; event: Told }[] = [];
  #cancelTimer: (() => void) | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #listenedTo = false;
  #lookedAtMs = -Infinity;
  /** The number of the last event. */
  seq = 0;

  constructor(store: Store, owner: string, clock: Clock) {
    this.#store = store;
    this.#owner = owner;
    this.#clock = clock;
  }

  /** Numbers an event and keeps it for the others. Returns its number, if it is to be told. */
  publish(event: RelayEvent): number | undefined {
    if (!isTold(event)) return undefined;
    const seq = ++this.seq;
    if (this.#pending.length < MAX_PENDING) this.#pending.push({ seq, event });
    this.#cancelTimer ??= this.#clock.after(this.#listenedTo ? FLUSH_MS : LOOK_MS, () => {
      this.flush().catch(() => {});
    });
    return seq;
  }

  /** Writes what is pending if somebody listens; else drops it. Rejects if the store fails. */
  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const flushed = this.#flushing.then(() => this.#flush());
    this.#flushing = flushed.catch(() => {});
    return flushed;
  }

  async #flush(): Promise<void> {
    const taken = this.#pending;
    this.#pending = [];
    if (taken.length === 0) return;
    if (!await this.#look()) return;
    const events = taken.map(({ seq, event }) => ({ seq, ...liveEvent(event) }));
    await appendFeed(this.#store, this.#owner, events);
  }

  async #look(): Promise<boolean> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#listenedTo && nowMs - this.#lookedAtMs < LOOK_MS) return true;
    this.#lookedAtMs = nowMs;
    this.#listenedTo = await isListenedTo(this.#store);
    return this.#listenedTo;
  }
}
