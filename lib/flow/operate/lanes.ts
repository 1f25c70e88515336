import { type LaneAction, operated } from "../../decide/operator.ts";
import { type Problem, problem } from "../../errors.ts";
import type { Clock } from "../../ports.ts";
import type { Lane, Lanes } from "../lanes.ts";
import type { Schedule } from "../schedule.ts";

export interface LaneParts {
  lanes: Lanes;
  schedule: Schedule;
  clock: Clock;
}

/**
 * Pauses, resumes, enables or disables a lane and returns it as it is then. Saying the
 * same twice is no error. `unknown_endpoint` where the configuration has no such endpoint.
 */
export async function operateLane(
  parts: LaneParts,
  endpoint: string,
  action: LaneAction,
): Promise<Lane | Problem> {
  const lane = await parts.lanes.find(endpoint);
  if (lane === undefined) return unknownEndpoint(action);
  await parts.lanes.reread(lane);
  await parts.lanes.update(lane, (row) => operated(row, action, parts.clock.nowMs()));
  parts.schedule.wake(endpoint);
  return lane;
}

/** The refusal for an endpoint that is not configured. */
export function unknownEndpoint(verb: string): Problem {
  return problem("unknown_endpoint", `cannot ${verb} the endpoint: none of that id is configured`);
}
