import type { Gate } from "./gate.ts";

/** What a replay job must know of a lane before it adds to it. */
export interface LaneLoad {
  gate: Gate["go"];
  concurrency: number;
  /** Attempts a second, where the endpoint has a limit. */
  rateLimit?: number;
  /** Attempts under way. */
  inFlight: number;
  /** Open deliveries, counted up to `BACKLOG` and the concurrency. */
  open: number;
  /** Whether one of them is due and not yet taken. */
  waits: boolean;
  /** The job got nothing for a while. */
  starved: boolean;
}

/** Open deliveries beyond those under way; from here on a job waits for the lane. */
export const BACKLOG = 200;

/**
 * How many deliveries a job may give a lane now. The past must not push out the present:
 * nothing while something waits; at most half of the places, or a quarter of a second's
 * attempts; one now and then where live events take more than half, and one into a lane
 * that stands still, so that its probe has something.
 */
export function replayRoom(load: LaneLoad): number {
  const { gate, concurrency, rateLimit = Infinity, inFlight, open, waits, starved } = load;
  if (waits || open >= BACKLOG + concurrency) return 0;
  if (gate !== "all") return 1;
  const places = Math.ceil(concurrency / 2) - inFlight;
  return Math.max(starved ? 1 : 0, Math.min(places, Math.ceil(rateLimit / 4)));
}
