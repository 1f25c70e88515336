import { StoreUnavailable } from "../../errors.ts";
import type { Clock, Observe, RelayEvent } from "../../ports.ts";
import { markListening, type NumberedEvent, readFeed, readHeads } from "../../store/feed.ts";
import type { Store } from "../../store/kv.ts";
import { isTold, liveEvent } from "./event.ts";
import { Listener, type Outlet } from "./listener.ts";
import type { Position } from "./position.ts";
import { Publisher } from "./publisher.ts";
import { Tail } from "./tail.ts";

export interface LiveParts {
  store: Store;
  clock: Clock;
  /** Names this process. */
  owner: string;
  /** Told when the other processes' events cannot be read. */
  onError: (error: Error) => void;
  /** Time between two signs of life on a quiet stream. */
  heartbeatMs?: number;
}

/** Proxies close a silent connection after a minute, some after 30 seconds. */
const HEARTBEAT_MS = 15_000;
const RENEW_MS = 60_000;
/** Listeners of one process; each may hold a full outlet in memory. */
const MAX_LISTENERS = 64;

/**
 * What happens, told live to any number of listeners: events of this process at once, those
 * of the others through the store. Every listener gets each event once.
 */
export class LiveEvents {
  readonly #parts: LiveParts;
  readonly #publisher: Publisher;
  readonly #tail: Tail;
  readonly #listeners = new Set<Listener>();
  #cancelHeartbeat: (() => void) | undefined;
  #markedAtMs = -Infinity;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#publisher = new Publisher(parts.store, parts.owner, parts.clock);
    this.#tail = new Tail({ ...parts, onEvent: (owner, event) => this.#tell(owner, event) });
  }

  /** Takes what happens in this process. */
  readonly observe: Observe = (event: RelayEvent) => {
    const seq = this.#publisher.publish(event);
    if (seq === undefined || this.#listeners.size === 0 || !isTold(event)) return;
    this.#tell(this.#parts.owner, { seq, ...liveEvent(event) });
  };

  /** How many listen in this process. */
  get listeners(): number {
    return this.#listeners.size;
  }

  get isFull(): boolean {
    return this.listeners >= MAX_LISTENERS;
  }

  /**
   * Adds a listener, which first gets what happened after `after`, if that is given. The
   * returned function removes it. Rejects with `StoreUnavailable`.
   */
  async listen(outlet: Outlet, after?: Position): Promise<() => void> {
    const { owner } = this.#parts;
    const listener = new Listener(outlet, after ?? new Map([[owner, this.#publisher.seq]]));
    this.#listeners.add(listener);
    try {
      await this.#mark();
      await this.#tail.start();
    } catch (error) {
      this.#remove(listener);
      throw new StoreUnavailable("cannot listen: the store does not answer", { cause: error });
    }
    if (after === undefined) this.#startHere(listener);
    // What was missed may be more than an outlet holds: its reader must be able to begin.
    else this.#catchUp(listener);
    this.#beat();
    return () => this.#remove(listener);
  }

  /** Writes what waits for the other processes, if anybody listens. */
  flush(): Promise<void> {
    return this.#publisher.flush();
  }

  /** Ends all streams, for a stop. */
  stop(): void {
    for (const listener of this.#listeners) this.#drop(listener);
  }

  #startHere(listener: Listener): void {
    for (const [owner, seq] of this.#tail.position) listener.position.set(owner, seq);
    if (!listener.goLive()) this.#drop(listener);
  }

  async #catchUp(listener: Listener): Promise<void> {
    try {
      await this.flush();
      for (const [owner, head] of await readHeads(this.#parts.store)) {
        const after = listener.position.get(owner) ?? 0;
        if (head > after) await this.#retell(listener, owner, after);
      }
      if (!listener.goLive()) this.#drop(listener);
    } catch (error) {
      this.#parts.onError(error as Error);
      this.#drop(listener);
    }
  }

  async #retell(listener: Listener, owner: string, after: number): Promise<void> {
    for await (const event of readFeed(this.#parts.store, owner, after)) {
      if (!this.#listeners.has(listener)) return;
      await listener.catchUp(owner, event);
    }
  }

  #tell(owner: string, event: NumberedEvent): void {
    for (const listener of this.#listeners) {
      if (!listener.take(owner, event)) this.#drop(listener);
    }
  }

  #drop(listener: Listener): void {
    this.#remove(listener);
    listener.end();
  }

  #remove(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    this.#tail.stop();
    this.#cancelHeartbeat?.();
    this.#cancelHeartbeat = undefined;
  }

  /** Signs of life, and the news to the other processes that somebody still listens. */
  #beat(): void {
    if (this.#listeners.size === 0) return;
    const { clock, heartbeatMs = HEARTBEAT_MS, onError } = this.#parts;
    this.#cancelHeartbeat ??= clock.after(heartbeatMs, () => {
      this.#cancelHeartbeat = undefined;
      for (const listener of this.#listeners) if (!listener.heartbeat()) this.#drop(listener);
      this.#mark().catch(onError);
      this.#beat();
    });
  }

  async #mark(): Promise<void> {
    const { store, clock } = this.#parts;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#markedAtMs < RENEW_MS) return;
    await markListening(store, clock.nowMs() + 2 * RENEW_MS);
    this.#markedAtMs = nowMs;
  }
}
