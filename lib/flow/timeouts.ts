import type { Clock } from "../ports.ts";

interface Limit {
  atMs: number;
  fn: () => void;
}

/**
 * Time limits that hardly ever fire, a few durations over and over: starting one costs a
 * set entry, not a timer. Limits of one duration end in the order they began, so that one
 * timer a duration is enough.
 */
export class Timeouts {
  readonly #clock: Clock;
  readonly #rows = new Map<number, Row>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `fn` once after `ms`; the returned function calls it off. */
  start(ms: number, fn: () => void): () => void {
    let row = this.#rows.get(ms);
    if (row === undefined) this.#rows.set(ms, row = new Row(this.#clock, ms));
    return row.start(fn);
  }

  /** Settles like `working`, or with `late` once `ms` are over. */
  async race<T, L>(working: Promise<T>, ms: number, late: L): Promise<T | L> {
    const { promise, resolve, reject } = Promise.withResolvers<T | L>();
    const cancel = this.start(ms, () => resolve(late));
    working.then(resolve, reject);
    try {
      return await promise;
    } finally {
      cancel();
    }
  }
}

/** All limits of one duration, the oldest first. Its timer runs only while there is one. */
class Row {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #limits = new Set<Limit>();
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  start(fn: () => void): () => void {
    const limit = { atMs: this.#clock.monotonicMs() + this.#ms, fn };
    this.#limits.add(limit);
    if (this.#cancelTimer === undefined) this.#arm(this.#ms);
    return () => {
      this.#limits.delete(limit);
      if (this.#limits.size === 0) this.#disarm();
    };
  }

  #arm(delayMs: number): void {
    this.#cancelTimer = this.#clock.after(Math.max(1, delayMs), () => this.#ring());
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #ring(): void {
    this.#cancelTimer = undefined;
    const nowMs = this.#clock.monotonicMs();
    for (const limit of this.#limits) {
      if (limit.atMs > nowMs) return this.#arm(limit.atMs - nowMs);
      this.#limits.delete(limit);
      limit.fn();
    }
  }
}
