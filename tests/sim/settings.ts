import { type Endpoint, endpointSchema, toEndpoint } from "../../lib/endpoint.ts";

/** Each endpoint has two targets, so that a changed configuration can name the other one. */
export const TARGETS = ["one", "two"] as const;
export type TargetName = typeof TARGETS[number];

export const originOf = (endpoint: string, target: TargetName) =>
  `http://${endpoint}.${target}.test`;

const RETRY = { schedule: ["1s", "3s", "10s", "40s", "40s", "40s"] };
const BREAKER = { failures: 3, open: "5s", cap: "20s" };

/**
 * The endpoints of a simulation: one for each way in which lanes differ. Where a wait is
 * longer than the breaker's, probes come early and a recovery has something to let out.
 */
const WRITTEN = {
  free: {
    retry: { schedule: ["20s", "3s", "40s", "10s", "40s", "40s"] },
    breaker: BREAKER,
    concurrency: 4,
  },
  line: { retry: RETRY, breaker: BREAKER, ordered: true },
  rated: {
    retry: { schedule: ["1s", "2s", "4s", "30s"] },
    breaker: BREAKER,
    rateLimit: 4,
    concurrency: 3,
  },
  bare: { retry: { schedule: ["1s", "2s"] }, breaker: false, timeout: "3s" },
} as const;

export type EndpointName = keyof typeof WRITTEN;
export const ENDPOINTS = Object.keys(WRITTEN) as EndpointName[];

/** The configuration that a process starts with. */
export function endpointsOf(
  targets: Readonly<Record<EndpointName, TargetName>>,
): ReadonlyMap<string, Endpoint> {
  return new Map(ENDPOINTS.map((id) => {
    const targetUrl = `${originOf(id, targets[id])}/in`;
    return [id, toEndpoint(endpointSchema.parse({ id, targetUrl, ...WRITTEN[id] }))];
  }));
}

const SETTINGS = endpointsOf({ free: "one", line: "one", rated: "one", bare: "one" });
export const ALL_SETTINGS: readonly Endpoint[] = [...SETTINGS.values()];

/** How a lane is set, whichever target it has at the moment. */
export function laneSettings(endpoint: string): Endpoint {
  return SETTINGS.get(endpoint)!;
}

/** The longest of one kind of time over all lanes. */
export function longest(ms: (settings: Endpoint) => number): number {
  return Math.max(...ALL_SETTINGS.map(ms));
}
