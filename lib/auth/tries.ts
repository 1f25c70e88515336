import type { Clock } from "../ports.ts";

const TRIES = 10;
const WINDOW_MS = 60_000;
/** Addresses remembered; beyond, all are forgotten, which costs a guesser 1,000 addresses. */
const MOST_ADDRESSES = 1_000;

/** Bounds wrong tokens: `TRIES` a minute from one address, in one process. */
export class Tries {
  readonly #clock: Clock;
  readonly #wrong = new Map<string, { n: number; sinceMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isSpent(address: string): boolean {
    return (this.#current(address)?.n ?? 0) >= TRIES;
  }

  noteWrong(address: string): void {
    const current = this.#current(address);
    if (current !== undefined) {
      current.n++;
      return;
    }
    if (this.#wrong.size >= MOST_ADDRESSES) this.#wrong.clear();
    this.#wrong.set(address, { n: 1, sinceMs: this.#clock.monotonicMs() });
  }

  #current(address: string): { n: number } | undefined {
    const found = this.#wrong.get(address);
    if (found === undefined || this.#clock.monotonicMs() - found.sinceMs < WINDOW_MS) return found;
    this.#wrong.delete(address);
    return undefined;
  }
}
