import { breakerIn } from "../../lib/decide/lane.ts";
import { isProbing } from "../../lib/decide/breaker.ts";
import { shownTarget } from "../../lib/decide/relay_targets.ts";
import type { Endpoint } from "../../lib/endpoint.ts";
import type { Lane } from "../../lib/flow/lanes.ts";
import type { Overview } from "../../lib/flow/operate/overview.ts";
import { isRelayLane } from "../../lib/ids.ts";
import { COUNTED_UP_TO } from "../../lib/store/counts.ts";
import type { Totals } from "../../lib/store/stats.ts";
import { iso, MASK } from "./shapes.ts";

/** An endpoint with its settings and its fate. */
export function endpointShape(overview: Overview, nowMs: number) {
  return { ...settingsShape(overview.lane.endpoint), ...fateShape(overview, nowMs) };
}

/** A lane with its fate alone. */
export function laneShape(overview: Overview, nowMs: number) {
  return { endpoint: overview.lane.id, ...fateShape(overview, nowMs) };
}

/**
 * Settings that may be shown, one by one, so that a new field is hidden until somebody
 * decides otherwise. Of the target only its origin: path and query may be a credential. A
 * relay mode's target has its path too, or its lanes could not be told apart.
 */
function settingsShape(endpoint: Endpoint) {
  const { id, provider, signatureHeader, idHeaders, idPath, dedup, dedupWindowMs } = endpoint;
  const { methods, maxBodyBytes, forwardPath, forwardQuery, ordered, restamp } = endpoint;
  const { showPayload, retry, retryStatuses, timeoutMs, concurrency, rateLimit } = endpoint;
  const { breaker, disableAfterMs, retentionMs, deadRetentionMs } = endpoint;
  return {
    ...{ id, provider, signatureHeader, idPath, dedup, dedupWindowMs, maxBodyBytes },
    ...{ forwardPath, forwardQuery, ordered, restamp, showPayload, timeoutMs, concurrency },
    ...{ rateLimit, disableAfterMs, retentionMs, deadRetentionMs },
    targetUrl: isRelayLane(id)
      ? shownTarget(endpoint.targetUrl)
      : new URL(endpoint.targetUrl).origin,
    secrets: endpoint.secrets.map(() => MASK),
    verifyToken: masked(endpoint.verifyToken),
    signingSecret: masked(endpoint.signingSecret),
    headers: Object.fromEntries(Object.keys(endpoint.headers).map((name) => [name, MASK])),
    idHeaders: idHeaders && [...idHeaders],
    methods: [...methods],
    retry: { ...retry, delaysMs: [...retry.delaysMs] },
    retryStatuses: [...retryStatuses],
    breakerSettings: breaker,
  };
}

const masked = (secret: string | undefined) => secret === undefined ? undefined : MASK;

function fateShape(overview: Overview, nowMs: number) {
  const { lane, oldestWaitingAtMs, blockedBy } = overview;
  const { health, pausedAtMs } = lane.row;
  return {
    health: health.status,
    disabledBy: health.disabledBy,
    paused: pausedAtMs !== undefined,
    pausedAt: iso(pausedAtMs),
    breaker: breakerShape(lane, nowMs),
    counts: countsShape([overview], overview.lastHour),
    oldestPendingAt: iso(oldestWaitingAtMs),
    blockedBy: blockedBy && { deliveryId: blockedBy.deliveryId, until: iso(blockedBy.untilMs) },
  };
}

function breakerShape(lane: Lane, nowMs: number) {
  const breaker = breakerIn(lane.row, lane.endpoint.breaker);
  if (breaker.phase === "closed") return { state: breaker.phase };
  return {
    state: breaker.phase,
    until: iso(breaker.openUntilMs),
    cause: breaker.cause,
    probing: isProbing(breaker, nowMs),
  };
}

/** Counts of one lane, or of all added up. */
export function countsShape(
  lanes: readonly Pick<Overview, "pending" | "inFlight" | "dead">[],
  lastHour: Totals,
) {
  const sum = (name: "pending" | "inFlight" | "dead") =>
    lanes.reduce((total, lane) => total + lane[name], 0);
  return {
    pending: sum("pending"),
    inFlight: sum("inFlight"),
    dead: sum("dead"),
    countedUpTo: COUNTED_UP_TO,
    lastHour,
  };
}
