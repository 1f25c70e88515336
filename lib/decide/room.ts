import { LIMITS } from "../limits.ts";

/** What is under way, in the whole process and in one lane. */
export interface Load {
  inFlight: number;
  heldBytes: number;
  laneInFlight: number;
  laneHeldBytes: number;
  /** Deliveries the lane may have in memory. */
  lanePlaces: number;
}

/** Body bytes one lane may hold, so that a hanging one leaves room for its neighbours. */
const LANE_BYTES = LIMITS.inFlightBytes / 4;

/**
 * Whether one more delivery may be taken into memory. A lane that holds nothing always
 * gets its turn: the ceilings of the process must not let its neighbours starve it.
 */
export function hasRoom(load: Load, bytes: number): boolean {
  if (load.laneInFlight >= load.lanePlaces) return false;
  if (load.laneInFlight === 0) return true;
  return load.inFlight < LIMITS.inFlight &&
    load.heldBytes + bytes <= LIMITS.inFlightBytes &&
    load.laneHeldBytes + bytes <= LANE_BYTES;
}
