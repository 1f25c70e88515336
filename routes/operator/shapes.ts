import type { Attempt, Delivery } from "../../lib/model.ts";

/** An instant as the API shows it; `undefined` stays away. */
export function iso(ms: number): string;
export function iso(ms: number | undefined): string | undefined;
export function iso(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/**
 * A delivery as the API shows it: times as ISO 8601, nothing of the payload. `shown` says
 * that operators may see what the sender wrote; without it the query's values are masked.
 */
export function deliveryShape(delivery: Delivery, shown: boolean) {
  const { id, endpoint, eventId, state, reason, method, path, query, bytes, sha256 } = delivery;
  const { acceptedAtMs, dueAtMs, settledAtMs, attemptCount, replays, attempts } = delivery;
  return {
    ...{ id, endpoint, eventId, state, reason, method, path, bytes, sha256 },
    query: shown ? query : maskedQuery(query),
    acceptedAt: iso(acceptedAtMs),
    dueAt: iso(dueAtMs),
    settledAt: iso(settledAtMs),
    attemptCount,
    replays,
    attempts: attempts.map(attemptShape),
  };
}

function attemptShape({ n, atMs, ms, status, code, location, outcome, retryAtMs }: Attempt) {
  return { n, at: iso(atMs), ms, status, code, location, outcome, retryAt: iso(retryAtMs) };
}

/** What stands for a hidden value. */
export const MASK = "***";

/** A raw query with its values hidden: tokens travel there. What has no name is a value. */
export function maskedQuery(query: string): string {
  if (query === "") return "";
  return query.split("&").map((part) => {
    const at = part.indexOf("=");
    return at < 0 ? MASK : `${part.slice(0, at)}=${MASK}`;
  }).join("&");
}
