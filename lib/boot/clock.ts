import type { Clock } from "../ports.ts";

/** The real clock. Everything below the program's top takes it as a parameter. */
export const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, fn) {
    const timer = setTimeout(fn, delayMs);
    return () => clearTimeout(timer);
  },
};
