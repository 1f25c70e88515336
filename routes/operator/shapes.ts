import type { Attempt, Delivery } from "../../lib/model.ts";

const iso = (ms: number | undefined) => ms === undefined ? undefined : new Date(ms).toISOString();

/** A delivery as the API shows it: times as ISO 8601, nothing of the payload. */
export function deliveryShape(delivery: Delivery) {
  const { id, endpoint, eventId, state, reason, method, path, query, bytes, sha256 } = delivery;
  const { acceptedAtMs, dueAtMs, settledAtMs, attemptCount, replays, attempts } = delivery;
  return {
    ...{ id, endpoint, eventId, state, reason, method, path, query, bytes, sha256 },
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
