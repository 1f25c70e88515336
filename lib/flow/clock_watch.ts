import { LIMITS } from "../limits.ts";
import type { Clock } from "../ports.ts";

/** Notices that the wall clock was set back: it has lost on the clock that only grows. */
export class ClockWatch {
  readonly #clock: Clock;
  /** How far the wall clock was ahead at the most since the last time it was set back. */
  #aheadMs: number;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#aheadMs = clock.nowMs() - clock.monotonicMs();
  }

  /** How often it was set back in this process's life, as far as it matters. */
  setBacks(): number {
    const aheadMs = this.#clock.nowMs() - this.#clock.monotonicMs();
    if (aheadMs < this.#aheadMs - LIMITS.clockErrorMs) {
      this.#count++;
      this.#aheadMs = aheadMs;
    }
    this.#aheadMs = Math.max(this.#aheadMs, aheadMs);
    return this.#count;
  }
}
