import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { LaneAction } from "../../lib/decide/operator.ts";
import type { Lane } from "../../lib/flow/lanes.ts";
import { operateLane, unknownEndpoint } from "../../lib/flow/operate/lanes.ts";
import { overviewOf, type OverviewParts, shownLanes } from "../../lib/flow/operate/overview.ts";
import { testEndpoint, type TestParts } from "../../lib/flow/operate/test_event.ts";
import { readHandshake } from "../../lib/store/handshakes.ts";
import { json, refusal, refusals } from "./answers.ts";
import { endpointShape } from "./endpoint_shape.ts";
import { noQuery } from "./query.ts";
import { endpointPageSchema, endpointSchema, testResultSchema } from "./schemas.ts";
import { iso } from "./shapes.ts";

export type EndpointParts = OverviewParts & TestParts;

const tags = ["Endpoints"];
const params = z.object({ id: z.string().openapi({ example: "github" }) });
const request = { params, query: noQuery };

const ACTIONS: Record<LaneAction, string> = {
  pause: "Hold an endpoint's deliveries; it still accepts",
  resume: "Let a paused endpoint go on",
  enable: "Enable a disabled endpoint; its failures are forgotten",
  disable: "Disable an endpoint; it still accepts, deliveries wait",
};

/** Routes under `/endpoints`. */
export function endpointRoutes(parts: EndpointParts): OpenAPIHono {
  const app = new OpenAPIHono();
  const shape = async (lane: Lane) =>
    endpointShape(await overviewOf(parts, lane), parts.clock.nowMs());

  app.openapi(listRoute, async (context) => {
    const items = await Promise.all((await shownLanes(parts)).map(shape));
    return context.json({ items, cursor: null }, 200);
  });

  app.openapi(showRoute, async (context) => {
    const lane = await parts.lanes.find(context.req.valid("param").id);
    if (lane === undefined) return refusal(unknownEndpoint("show"));
    const handshake = await readHandshake(parts.store, lane.id);
    const shown = handshake && { at: iso(handshake.atMs), report: handshake.report };
    return context.json({ ...await shape(lane), handshake: shown }, 200);
  });

  for (const action of Object.keys(ACTIONS) as LaneAction[]) {
    app.openapi(actionRoute(action), async (context) => {
      const lane = await operateLane(parts, context.req.valid("param").id, action);
      return "code" in lane ? refusal(lane) : context.json(await shape(lane), 200);
    });
  }

  app.openapi(testRoute, async (context) => {
    const result = await testEndpoint(parts, context.req.valid("param").id);
    if (!("ok" in result)) return refusal(result);
    const { atMs, ...attempt } = result;
    return context.json({ ...attempt, at: iso(atMs) }, 200);
  });
  return app;
}

const listRoute = createRoute({
  method: "get",
  path: "/endpoints",
  tags,
  summary: "All configured endpoints",
  request: { query: noQuery },
  responses: { 200: json("The endpoints", endpointPageSchema), ...refusals },
});

const showRoute = createRoute({
  method: "get",
  path: "/endpoints/{id}",
  tags,
  summary: "One endpoint: settings without secrets, health, breaker, counts",
  request,
  responses: { 200: json("The endpoint", endpointSchema), ...refusals },
});

const actionRoute = (action: LaneAction) =>
  createRoute({
    method: "post",
    path: `/endpoints/{id}/${action}`,
    tags,
    summary: ACTIONS[action],
    request,
    responses: { 200: json("The endpoint as it is now", endpointSchema), ...refusals },
  });

const testRoute = createRoute({
  method: "post",
  path: "/endpoints/{id}/test",
  tags,
  summary: "Send one `holdfast.test` event to the target",
  description:
    "One real attempt, past pause and breaker, that is stored nowhere. An answer of 2xx enables a disabled endpoint; anything else changes nothing.",
  request,
  responses: { 200: json("What the target answered", testResultSchema), ...refusals },
});
