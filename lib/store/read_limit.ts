import { StoreUnavailable } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { Clock } from "../ports.ts";
import type { Kv } from "./kv.ts";
import { readsThrough } from "./reads.ts";

/** Reads without an answer, from which on no further one is asked. */
const OVERDUE_READS = 32;
/** Looks for overdue reads in one limit: one timer for all is far cheaper than one each. */
const LOOKS = 8;

/**
 * A store whose reads end. Over KV Connect the runtime asks a server that is away four times
 * a second, without end; a file on a disk that hangs does not answer either. Each read, the
 * drain's too, would wait until the store is back, and add to that. Here one without an
 * answer rejects with `StoreUnavailable` after `limitMs`, or an eighth of that later; while
 * too many are overdue, further ones do at once. Commits keep their own time (`Committer`).
 */
export function withReadLimit(kv: Kv, clock: Clock, limitMs: number = LIMITS.storeTryMs): Kv {
  const reads = new Reads(clock, limitMs);
  return readsThrough(kv, (ask) => reads.read(ask));
}

interface Asked {
  sinceMs: number;
  isLate: boolean;
  reject: (error: StoreUnavailable) => void;
}

class Reads {
  readonly #clock: Clock;
  readonly #limitMs: number;
  /** Those that have time left, the oldest first. */
  readonly #asked = new Set<Asked>();
  #overdue = 0;
  #isWatching = false;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  read<T>(ask: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#overdue >= OVERDUE_READS) {
        const detail = `cannot read: ${this.#overdue} reads have had no answer`;
        return reject(new StoreUnavailable(detail));
      }
      const asked = { sinceMs: this.#clock.monotonicMs(), isLate: false, reject };
      this.#asked.add(asked);
      if (!this.#isWatching) this.#watch();
      ask().then((answer) => {
        this.#answered(asked);
        resolve(answer);
      }, (error) => {
        this.#answered(asked);
        reject(error);
      });
    });
  }

  #answered(asked: Asked): void {
    if (asked.isLate) this.#overdue--;
    else this.#asked.delete(asked);
  }

  #watch(): void {
    this.#isWatching = true;
    this.#clock.after(this.#limitMs / LOOKS, () => {
      this.#refuseLate();
      this.#isWatching = false;
      if (this.#asked.size > 0) this.#watch();
    });
  }

  #refuseLate(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const asked of this.#asked) {
      if (nowMs - asked.sinceMs < this.#limitMs) return;
      this.#asked.delete(asked);
      asked.isLate = true;
      this.#overdue++;
      asked.reject(new StoreUnavailable(`cannot read: no answer for ${this.#limitMs} ms`));
    }
  }
}
