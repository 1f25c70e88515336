import type { Clock } from "../ports.ts";

/** A timer's longest delay; one above it would ring at once (HTML, timers: a 32-bit integer). */
const TIMER_MS = 2 ** 31 - 1;

/** The real clock. Everything below the program's top takes it as a parameter. */
export const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, fn) {
    let timer: ReturnType<typeof setTimeout>;
    const wait = (leftMs: number) => {
      timer = leftMs > TIMER_MS
        ? setTimeout(() => wait(leftMs - TIMER_MS), TIMER_MS)
        : setTimeout(fn, leftMs);
    };
    wait(delayMs);
    return () => clearTimeout(timer);
  },
};
