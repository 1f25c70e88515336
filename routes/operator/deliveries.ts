import { Hono } from "hono";
import { eventKey } from "../../lib/decide/event_id.ts";
import { type Problem, problem } from "../../lib/errors.ts";
import { cancel, type OperateParts, replay } from "../../lib/flow/operate/deliveries.ts";
import type { Delivery } from "../../lib/model.ts";
import { readClaim } from "../../lib/store/accept.ts";
import { readDelivery } from "../../lib/store/door.ts";
import { endpointsWithDeliveries, findDelivery, listDeliveries } from "../../lib/store/list.ts";
import { problemResponse } from "../problem.ts";
import { type ListQuery, makeCursor, parseListQuery } from "./query.ts";
import { deliveryShape } from "./shapes.ts";

/** Routes under `/deliveries`: list, show, replay, cancel. */
export function deliveryRoutes(parts: OperateParts): Hono {
  const app = new Hono();
  app.get("/", (context) => list(parts, new URL(context.req.url).searchParams));
  app.get("/:id", async (context) => {
    const found = await findDelivery(parts.store, context.req.param("id"));
    if (found === undefined) {
      return problemResponse(
        problem("unknown_delivery", "cannot show the delivery: its id is unknown"),
      );
    }
    return context.json(deliveryShape(found.value));
  });
  app.post(
    "/:id/replay",
    async (context) => changed(await replay(parts, context.req.param("id")), 202),
  );
  app.post(
    "/:id/cancel",
    async (context) => changed(await cancel(parts, context.req.param("id")), 200),
  );
  return app;
}

/** Routes under `/dead-letters/:endpoint`: list and replay, as durable-webhook has them. */
export function deadLetterRoutes(parts: OperateParts): Hono {
  const app = new Hono();
  app.get("/:endpoint", (context) => {
    const params = new URL(context.req.url).searchParams;
    params.set("endpoint", context.req.param("endpoint"));
    params.set("state", "dead");
    return list(parts, params);
  });
  app.post("/:endpoint/:id/replay", async (context) => {
    const { endpoint, id } = context.req.param();
    const found = await readDelivery(parts.store, endpoint, id);
    if (found === undefined) {
      return problemResponse(
        problem("unknown_delivery", "cannot replay: the endpoint has no such delivery"),
      );
    }
    return changed(await replay(parts, id), 202);
  });
  return app;
}

function changed(result: Delivery | Problem, status: number): Response {
  return "code" in result
    ? problemResponse(result)
    : Response.json(deliveryShape(result), { status });
}

async function list(parts: OperateParts, params: URLSearchParams): Promise<Response> {
  const query = parseListQuery(params);
  if ("code" in query) return problemResponse(query);
  const known = await endpointsWithDeliveries(parts.store);
  const { endpoint } = query;
  if (endpoint !== undefined && !known.includes(endpoint) && !parts.endpoints.has(endpoint)) {
    return problemResponse(
      problem("unknown_endpoint", "cannot list: no such endpoint is configured or has deliveries"),
    );
  }
  const endpoints = endpoint === undefined ? known : [endpoint];
  const { items, next } = query.event_id === undefined
    ? await listDeliveries(parts.store, endpoints, filterOf(query), query.limit, query.cursor)
    : { items: await ofEvent(parts, endpoints, query, query.event_id), next: undefined };
  return Response.json({
    items: items.map(deliveryShape),
    cursor: next === undefined ? null : makeCursor(next),
  });
}

function filterOf({ state, reason, since, until }: ListQuery) {
  return { state, reason, sinceMs: since, untilMs: until };
}

/** An event id leads to its delivery through the claim on it; at most one an endpoint. */
async function ofEvent(
  { store }: OperateParts,
  endpoints: readonly string[],
  { state, reason }: ListQuery,
  eventId: string,
): Promise<Delivery[]> {
  const found = await Promise.all(endpoints.map(async (endpoint) => {
    const claim = await readClaim(store, endpoint, eventKey(eventId));
    return claim && await readDelivery(store, endpoint, claim.deliveryId);
  }));
  return found.flatMap((stored) => stored === undefined ? [] : [stored.value])
    .filter((delivery) => state === undefined || delivery.state === state)
    .filter((delivery) => reason === undefined || delivery.reason === reason);
}
