import { Hono } from "hono";
import { exposition, EXPOSITION_TYPE } from "../lib/observe/exposition.ts";
import { type GaugeParts, gauges } from "../lib/observe/gauges.ts";
import type { Metrics } from "../lib/observe/metrics.ts";
import type { Lane } from "../lib/flow/lanes.ts";

/** `GET /metrics`: this process's counters and the lanes' state, for Prometheus. */
export function metricsRoutes(parts: GaugeParts<Lane>, metrics: Metrics): Hono {
  const app = new Hono();
  app.get("/metrics", async () => {
    const families = [...metrics.families(), ...await gauges(parts)];
    return new Response(exposition(families), {
      headers: { "content-type": EXPOSITION_TYPE, "cache-control": "no-store" },
    });
  });
  return app;
}
