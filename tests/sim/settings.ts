import { type Endpoint, endpointSchema, toEndpoint } from "../../lib/endpoint.ts";

/** Each endpoint has two targets, so that a changed configuration can name the other one. */
export const TARGETS = ["one", "two"] as const;
export type TargetName = typeof TARGETS[number];

export const originOf = (endpoint: string, target: TargetName) =>
  `http://${endpoint}.${target}.test`;

const RETRY = { schedule: ["1s", "3s", "10s", "20s", "20s", "20s", "20s", "20s", "20s", "20s"] };
const BREAKER = { failures: 3, open: "5s", cap: "20s" };

/** The endpoints of a simulation: one for each way in which lanes differ. */
const WRITTEN = {
  free: { retry: RETRY, breaker: BREAKER, concurrency: 4 },
  line: { retry: RETRY, breaker: BREAKER, ordered: true },
  rated: { retry: RETRY, breaker: BREAKER, rateLimit: 4, concurrency: 3 },
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
