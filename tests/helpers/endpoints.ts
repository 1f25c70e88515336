import type { EndpointSettings } from "./program.ts";
import type { Sink } from "./sink.ts";

/**
 * An endpoint for tests: quick retries, and no breaker, so that attempts and gaps are the
 * schedule's alone.
 */
export function endpoint(
  id: string,
  target: Sink | string,
  settings: Record<string, unknown> = {},
): EndpointSettings {
  return {
    id,
    targetUrl: typeof target === "string" ? target : target.url("/in"),
    retry: { schedule: ["100ms", "100ms"] },
    breaker: false,
    ...settings,
  };
}
