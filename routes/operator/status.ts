import { createRoute, OpenAPIHono } from "@hono/zod-openapi";
import { type Status, statusOf, type StatusParts } from "../../lib/flow/operate/status.ts";
import { VERSION } from "../../lib/version.ts";
import { json, refusals } from "./answers.ts";
import { countsShape, laneShape } from "./endpoint_shape.ts";
import { noQuery } from "./query.ts";
import { statusSchema } from "./schemas.ts";
import { iso } from "./shapes.ts";

/** `GET /status`. */
export function statusRoutes(parts: StatusParts): OpenAPIHono {
  const app = new OpenAPIHono();
  app.openapi(
    statusRoute,
    async (context) => context.json(statusShape(await statusOf(parts)), 200),
  );
  return app;
}

/** The status as the API shows it. */
export function statusShape({ atMs, scheduler, lanes, removed, lastHour, ...status }: Status) {
  const gone = removed.map(({ waiting }) => ({ pending: waiting, inFlight: 0, dead: 0 }));
  return {
    version: VERSION,
    at: iso(atMs),
    scheduler: {
      mode: scheduler.mode,
      queue: scheduler.queue,
      sweptAt: iso(scheduler.sweptAtMs),
    },
    lanes: lanes.map((lane) => laneShape(lane, atMs)),
    counts: countsShape([...lanes, ...gone], lastHour),
    oldestPendingAt: iso(status.oldestWaitingAtMs),
    conditions: status.conditions.map(({ sinceMs, ...rest }) => ({ ...rest, since: iso(sinceMs) })),
  };
}

const statusRoute = createRoute({
  method: "get",
  path: "/status",
  tags: ["Status"],
  summary: "The whole relay at one look, and what needs attention",
  request: { query: noQuery },
  responses: { 200: json("The status", statusSchema), ...refusals },
});
