import type { Clock } from "../../lib/ports.ts";

/** A clock whose timers end with the test. */
export class TestClock implements Clock, Disposable {
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  after(delayMs: number, fn: () => void): () => void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      fn();
    }, delayMs);
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
      clearTimeout(timer);
    };
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
