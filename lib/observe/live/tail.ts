import type { Clock } from "../../ports.ts";
import { type NumberedEvent, readFeed, readHeads } from "../../store/feed.ts";
import type { Store } from "../../store/kv.ts";
import type { Position } from "./position.ts";

/** How often the other processes' heads are looked at while somebody listens here. */
const POLL_MS = 250;

export interface TailParts {
  store: Store;
  clock: Clock;
  /** This process, whose own events need no way through the store. */
  owner: string;
  onEvent: (owner: string, event: NumberedEvent) => void;
  onError: (error: Error) => void;
}

/** Follows what the other processes tell, from the moment it starts. */
export class Tail {
  readonly #parts: TailParts;
  #run: { abort: AbortController; begun: Promise<void> } | undefined;
  /** How far it has come, by process; without this one. */
  position: Position = new Map();

  constructor(parts: TailParts) {
    this.#parts = parts;
  }

  /** Begins at the present heads. Rejects where the store cannot be read; then nothing began. */
  start(): Promise<void> {
    if (this.#run === undefined) {
      const abort = new AbortController();
      this.#run = { abort, begun: this.#begin(abort.signal) };
      this.#run.begun.catch(() => this.stop());
    }
    return this.#run.begun;
  }

  stop(): void {
    this.#run?.abort.abort();
    this.#run = undefined;
  }

  async #begin(stopped: AbortSignal): Promise<void> {
    this.position = await this.#heads();
    this.#follow(stopped);
  }

  async #follow(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      await this.#pause(stopped);
      if (!stopped.aborted) await this.#look(stopped).catch(this.#parts.onError);
    }
  }

  async #look(stopped: AbortSignal): Promise<void> {
    const heads = await this.#heads();
    for (const owner of this.position.keys()) if (!heads.has(owner)) this.position.delete(owner);
    for (const [owner, head] of heads) {
      const after = this.position.get(owner) ?? 0;
      if (head <= after) continue;
      for await (const event of readFeed(this.#parts.store, owner, after)) {
        if (stopped.aborted) return;
        this.position.set(owner, event.seq);
        this.#parts.onEvent(owner, event);
      }
    }
  }

  async #heads(): Promise<Position> {
    const heads = await readHeads(this.#parts.store);
    heads.delete(this.#parts.owner);
    return heads;
  }

  #pause(stopped: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        stopped.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.#parts.clock.after(POLL_MS, end);
      stopped.addEventListener("abort", end);
    });
  }
}
