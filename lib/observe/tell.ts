import type { Observe } from "../ports.ts";

/** One observer that tells every event to all of these, in their order. */
export function tellAll(observers: readonly Observe[]): Observe {
  return (event) => {
    for (const observe of observers) observe(event);
  };
}
