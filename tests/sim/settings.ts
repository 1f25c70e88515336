import { type Endpoint, endpointSchema, toEndpoint } from "../../lib/endpoint.ts";
import { relayEndpoint } from "../../lib/flow/relay_lanes.ts";
import {
  parseTargetPattern,
  type RelaySettings,
  toRelaySettings,
} from "../../lib/relay_settings.ts";

/** Each endpoint has two targets, so that a changed configuration can name the other one. */
export const TARGETS = ["one", "two"] as const;
export type TargetName = typeof TARGETS[number];

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
  line: { retry: RETRY, breaker: BREAKER, ordered: true, deadRetention: "25s" },
  rated: {
    retry: { schedule: ["1s", "2s", "4s", "30s"] },
    breaker: BREAKER,
    rateLimit: 4,
    concurrency: 3,
    retention: "20s",
  },
  bare: {
    retry: { schedule: ["1s", "2s"] },
    breaker: false,
    timeout: "3s",
    retention: "20s",
    dedupWindow: "30s",
  },
} as const;

export type EndpointName = keyof typeof WRITTEN;
export const ENDPOINTS = Object.keys(WRITTEN) as EndpointName[];

/** Where a lane's deliveries go; relay mode's have the one target. */
export function originOf(lane: string, target: TargetName): string {
  const relayed = RELAYED.find(({ id }) => id === lane);
  return relayed === undefined
    ? `http://${lane}.${target}.test`
    : new URL(relayed.targetUrl).origin;
}

/** The configuration that a process starts with. */
export function endpointsOf(
  targets: Readonly<Record<EndpointName, TargetName>>,
): ReadonlyMap<string, Endpoint> {
  return new Map(ENDPOINTS.map((id) => {
    const targetUrl = `http://${id}.${targets[id]}.test/in`;
    return [id, toEndpoint(endpointSchema.parse({ id, targetUrl, ...WRITTEN[id] }))];
  }));
}

const RELAYED_URLS = ["a", "b", "c", "d", "e"].map((name) => `http://${name}.relayed.test/in`);

/** Relay mode: any number of lanes that no configuration names. */
export const RELAY: RelaySettings = relaySettings();

function relaySettings(): RelaySettings {
  const pattern = parseTargetPattern("http://*.relayed.test");
  if (typeof pattern === "string") throw new Error(pattern);
  const settings = toRelaySettings({ RELAY_TARGETS: [pattern] })!;
  const { retry, breaker, retentionMs } = toEndpoint(endpointSchema.parse({
    ...{ id: "relayed", targetUrl: RELAYED_URLS[0] },
    ...{ retry: RETRY, breaker: BREAKER, retention: "20s" },
  }));
  return { ...settings, endpoint: { ...settings.endpoint, retry, breaker, retentionMs } };
}

const CONFIGURED = endpointsOf({ free: "one", line: "one", rated: "one", bare: "one" });
const RELAYED = RELAYED_URLS.map((url) => relayEndpoint(RELAY, url)!);
export const ALL_SETTINGS: readonly Endpoint[] = [...CONFIGURED.values(), ...RELAYED];
const SETTINGS = new Map(ALL_SETTINGS.map((one) => [one.id, one]));

/** The lanes of all endpoints and targets, by their ids. */
export const RELAYED_LANES = RELAYED.map(({ id }) => id);
export const LANES: readonly string[] = [...ENDPOINTS, ...RELAYED_LANES];

/** How a lane is set, whichever target it has at the moment. */
export function laneSettings(endpoint: string): Endpoint {
  return SETTINGS.get(endpoint)!;
}

/** The longest of one kind of time over all lanes. */
export function longest(ms: (settings: Endpoint) => number): number {
  return Math.max(...ALL_SETTINGS.map(ms));
}
