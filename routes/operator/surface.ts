import { OpenAPIHono } from "@hono/zod-openapi";
import type { Access } from "../../lib/auth/access.ts";
import type { Relay } from "../../lib/flow/relay.ts";
import type { LiveEvents } from "../../lib/observe/live/live.ts";
import { answerNotFound } from "../not_found.ts";
import { openapiRoutes } from "../openapi.ts";
import { shortBody } from "../short_body.ts";
import { refuseInvalid, refuseMalformed, unstored } from "./answers.ts";
import { deadLetterRoutes, deliveryRoutes } from "./deliveries.ts";
import { endpointRoutes } from "./endpoints.ts";
import { eventRoutes } from "./events.ts";
import { githubRoutes } from "./github.ts";
import { guard, shut } from "./guard.ts";
import { describeOutside } from "./outside.ts";
import { replayRoutes } from "./replays.ts";
import { statusRoutes } from "./status.ts";

export interface SurfaceParts {
  relay: Relay;
  live: LiveEvents;
  access: Access;
}

/**
 * Builds the operator's API with its document. Loaded by the first request that needs it:
 * a cold start must answer hooks before it compiles schemas.
 */
export function createOperatorSurface({ relay, live, access }: SurfaceParts): OpenAPIHono {
  const app = new OpenAPIHono({ defaultHook: refuseInvalid });
  app.onError(refuseMalformed);
  answerNotFound(app);
  const closed = guard(access);
  app.use("/api/*", closed);
  app.use("/dead-letters/*", closed);
  app.use("/api/*", shortBody(relay));
  app.use("/api/*", unstored);
  app.use("/dead-letters/*", unstored);
  app.use("/openapi.json", shut(access));
  app.use("/docs", shut(access));
  app.route("/api/v1", statusRoutes(relay));
  app.route("/api/v1", endpointRoutes(relay));
  app.route("/api/v1", deliveryRoutes(relay));
  app.route("/api/v1", deadLetterRoutes(relay));
  app.route("/api/v1", replayRoutes(relay));
  app.route("/api/v1", githubRoutes(relay));
  app.route("/api/v1/events", eventRoutes({ access, live, isStopping: relay.isStopping }));
  app.route("/", deadLetterRoutes(relay));
  describeOutside(app);
  app.route("/", openapiRoutes(app));
  return app;
}
