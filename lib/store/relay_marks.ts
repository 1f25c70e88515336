import { isRelayLane } from "../ids.ts";
import { keys } from "./keys.ts";
import type { Mutation } from "./write.ts";

/**
 * Lanes that no configuration names are found again through two rows: `active` while
 * something is due in them, `target` for as long as they have deliveries at all.
 */

/** What goes into every commit that gives a lane something due; nothing for configured ones. */
export function activeMark(endpoint: string): Mutation[] {
  return isRelayLane(endpoint) ? [{ type: "set", key: keys.active(endpoint), value: true }] : [];
}

/** What the accepting commit keeps of a relay lane: where its deliveries go. */
export function targetMark({ id, targetUrl }: { id: string; targetUrl: string }): Mutation[] {
  return isRelayLane(id) ? [{ type: "set", key: keys.target(id), value: { targetUrl } }] : [];
}
