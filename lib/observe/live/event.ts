import type { RelayEvent } from "../../ports.ts";
import type { FeedEvent } from "../../store/feed.ts";

/** The kinds of event that are told to listeners. */
export type LiveType = "accepted" | "attempt" | "settled" | "lane";

type Told = Extract<RelayEvent, { type: LiveType }>;

/** Whether an event is for listeners; refusals and faults are for the log and the counters. */
export function isTold(event: RelayEvent): event is Told {
  return event.type !== "refused" && event.type !== "store_error";
}

/**
 * An event as listeners get it: times as ISO 8601, no path, query, header, body, target or
 * Location of a redirect.
 */
export function liveEvent(event: Told): FeedEvent {
  const { type, endpoint } = event;
  const shown = { type, at: iso(event.atMs), endpoint, ...detailsOf(event) };
  return { type, data: JSON.stringify(shown) };
}

function detailsOf(event: Told): Record<string, unknown> {
  switch (event.type) {
    case "accepted": {
      const { deliveryId, eventId, status, ms } = event;
      return { deliveryId, eventId, status, ms: Math.round(ms) };
    }
    case "attempt": {
      const { deliveryId, eventId, n, ms, status, code, outcome, retryAtMs } = event;
      const retryAt = retryAtMs === undefined ? undefined : iso(retryAtMs);
      return { deliveryId, eventId, n, ms, status, code, outcome, retryAt };
    }
    case "settled": {
      const { deliveryId, state, reason } = event;
      return { deliveryId, state, reason };
    }
    case "lane":
      return { change: event.change };
  }
}

const iso = (ms: number) => new Date(ms).toISOString();
