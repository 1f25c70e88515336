import { Hono } from "hono";
import type { Relay } from "../lib/flow/relay.ts";
import { problem } from "../lib/errors.ts";
import type { LiveEvents } from "../lib/observe/live/live.ts";
import type { Metrics } from "../lib/observe/metrics.ts";
import { rawTarget, refuseAtDoor } from "./door.ts";
import { healthRoutes } from "./health.ts";
import { handleHook, isHook, type Remote } from "./ingest.ts";
import { metricsRoutes } from "./metrics.ts";
import { deadLetterRoutes, deliveryRoutes } from "./operator/deliveries.ts";
import { eventRoutes } from "./operator/events.ts";
import { guard } from "./operator/guard.ts";
import { problemResponse } from "./problem.ts";

export interface AppSettings {
  adminToken?: string;
  publicUrl?: string;
}

/** What watches the relay, and can be asked. */
export interface Watchers {
  live: LiveEvents;
  metrics: Metrics;
}

export type Handler = (request: Request, remote: Remote) => Promise<Response>;

/** Builds the whole HTTP surface: the door first, then hooks, then everything else. */
export function createApp(relay: Relay, settings: AppSettings, watchers: Watchers): Handler {
  const parts = { ...relay, publicUrl: settings.publicUrl };
  const surface = createSurface(relay, settings, watchers);
  return async (request, remote) => {
    try {
      const refused = refuseAtDoor(request);
      if (refused !== undefined) return refused;
      if (isHook(rawTarget(request.url).path)) return await handleHook(parts, request, remote);
      return await surface.fetch(request);
    } catch (error) {
      relay.log("error", "request_failed", {
        message: (error as Error).message,
        stack: (error as Error).stack,
      });
      return problemResponse(
        problem("internal", "cannot answer the request: a fault of the relay, see its log"),
      );
    }
  };
}

function createSurface(
  relay: Relay,
  { adminToken }: AppSettings,
  { live, metrics }: Watchers,
): Hono {
  const app = new Hono();
  app.onError((error) => {
    throw error;
  });
  app.notFound(() => problemResponse(problem("not_found", "cannot find the page: no such route")));
  app.route("/", healthRoutes(relay));
  const closed = guard(adminToken);
  app.use("/api/v1/*", closed);
  app.use("/dead-letters/*", closed);
  app.use("/metrics", closed);
  app.route("/", metricsRoutes(relay, metrics));
  app.route("/api/v1/events", eventRoutes({ live, isStopping: relay.isStopping }));
  app.route("/api/v1/deliveries", deliveryRoutes(relay));
  app.route("/api/v1/dead-letters", deadLetterRoutes(relay));
  app.route("/dead-letters", deadLetterRoutes(relay));
  return app;
}
