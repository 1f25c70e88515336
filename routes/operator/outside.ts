import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { json, refusals } from "./answers.ts";

const tags = ["Outside"];

const text = (description: string, type: string) => ({
  description,
  content: { [type]: { schema: z.string() } },
});

const liveness = json("The process lives", z.object({ status: z.literal("ok") }));

/** Routes that are served elsewhere, so that the document knows them too. */
const ROUTES = [
  createRoute({
    method: "get",
    path: "/api/v1/events",
    tags: ["Events"],
    summary: "What happens in all processes, live, as server-sent events",
    description: "Types: `accepted`, `attempt`, `settled`, `lane`.",
    request: {
      headers: z.object({
        "last-event-id": z.string().optional().openapi({
          description: "Goes on behind this event, for ten minutes after it.",
        }),
      }),
    },
    responses: { 200: text("Events until one side ends it", "text/event-stream"), ...refusals },
  }),
  createRoute({
    method: "get",
    path: "/metrics",
    tags,
    summary: "Counters and gauges of this process for Prometheus",
    responses: { 200: text("Metrics", "text/plain"), ...refusals },
  }),
  createRoute({
    method: "get",
    path: "/healthz",
    tags,
    security: [],
    summary: "Whether the process lives",
    responses: { 200: liveness },
  }),
  createRoute({
    method: "get",
    path: "/readyz",
    tags,
    security: [],
    summary: "Whether the store and the scheduler answer",
    responses: {
      200: json("Ready", z.object({ status: z.literal("ready") })),
      503: json("Not ready", z.object({ status: z.literal("unready"), reason: z.string() })),
    },
  }),
];

/** Adds what is served elsewhere to the document. */
export function describeOutside({ openAPIRegistry }: OpenAPIHono): void {
  for (const route of ROUTES) openAPIRegistry.registerPath(route);
}
