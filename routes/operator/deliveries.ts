import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { cancel, type OperateParts, replay } from "../../lib/flow/operate/deliveries.ts";
import { findDeliveries, type Listing } from "../../lib/flow/operate/listing.ts";
import { isShown, openPayload, showDelivery } from "../../lib/flow/operate/payload.ts";
import type { Delivery } from "../../lib/model.ts";
import { json, refusal, refusals } from "./answers.ts";
import { deadQuery, EXAMPLE_ID, type ListQuery, listQuery, makeCursor, noQuery } from "./query.ts";
import { deliveryPageSchema, deliverySchema } from "./schemas.ts";
import { deliveryShape } from "./shapes.ts";

const id = z.string().openapi({ example: EXAMPLE_ID });
const request = { params: z.object({ id }), query: noQuery };

/** Routes under `/deliveries`: list, show, payload, replay, cancel. */
export function deliveryRoutes(parts: OperateParts): OpenAPIHono {
  const app = new OpenAPIHono();
  const shape = (delivery: Delivery) => deliveryShape(delivery, isShown(parts, delivery.endpoint));

  app.openapi(listRoute, async (context) => {
    const page = await pageOf(parts, listingOf(context.req.valid("query")));
    return "code" in page ? refusal(page) : context.json(page, 200);
  });

  app.openapi(showRoute, async (context) => {
    const found = await showDelivery(parts, context.req.valid("param").id);
    if ("code" in found) return refusal(found);
    const headers = found.headers?.map(([name, value]): [string, string] => [name, value]);
    return context.json({ ...shape(found.delivery), headers }, 200);
  });

  app.openapi(payloadRoute, async (context) => {
    const { id } = context.req.valid("param");
    const payload = await openPayload(parts, id);
    if ("code" in payload) return refusal(payload);
    return new Response(ReadableStream.from(payload.pieces), {
      headers: { ...PAYLOAD_HEADERS, ...payloadName(id), "content-length": `${payload.bytes}` },
    });
  });

  app.openapi(replayRoute, async (context) => {
    const result = await replay(parts, context.req.valid("param").id);
    return "code" in result ? refusal(result) : context.json(shape(result), 202);
  });

  app.openapi(cancelRoute, async (context) => {
    const result = await cancel(parts, context.req.valid("param").id);
    return "code" in result ? refusal(result) : context.json(shape(result), 200);
  });
  return app;
}

/** Routes under `/dead-letters/{endpoint}`: list and replay, as durable-webhook has them. */
export function deadLetterRoutes(parts: OperateParts): OpenAPIHono {
  const app = new OpenAPIHono();

  app.openapi(deadListRoute, async (context) => {
    const { endpoint } = context.req.valid("param");
    const listing = listingOf({ ...context.req.valid("query"), endpoint, state: "dead" });
    const page = await pageOf(parts, listing);
    return "code" in page ? refusal(page) : context.json(page, 200);
  });

  app.openapi(deadReplayRoute, async (context) => {
    const { endpoint, id } = context.req.valid("param");
    const result = await replay(parts, id, endpoint);
    return "code" in result
      ? refusal(result)
      : context.json(deliveryShape(result, isShown(parts, result.endpoint)), 202);
  });
  return app;
}

/**
 * Stored bytes are a stranger's: whatever type they came with, a browser must neither show
 * nor run them on this origin.
 */
const PAYLOAD_HEADERS = {
  "content-type": "application/octet-stream",
  "x-content-type-options": "nosniff",
  "content-security-policy": "sandbox; default-src 'none'",
  "cache-control": "no-store",
};

const payloadName = (id: string) => ({ "content-disposition": `attachment; filename="${id}"` });

/** What a list's query asks for. */
export function listingOf(query: ListQuery): Listing {
  const { endpoint, state, reason, event_id, since, until, limit, cursor } = query;
  return {
    ...{ endpoint, state, reason, limit, before: cursor },
    ...{ eventId: event_id, sinceMs: since, untilMs: until },
  };
}

/** One page of deliveries as the API shows it. */
export async function pageOf(parts: OperateParts, listing: Listing) {
  const page = await findDeliveries(parts, listing);
  if ("code" in page) return page;
  return {
    items: page.items.map((item) => deliveryShape(item, isShown(parts, item.endpoint))),
    cursor: page.next === undefined ? null : makeCursor(page.next),
  };
}

const tags = ["Deliveries"];

const listRoute = createRoute({
  method: "get",
  path: "/deliveries",
  tags,
  summary: "Deliveries, newest first",
  description: "`since` is included, `until` is not. A page may be short and still have a next.",
  request: { query: listQuery },
  responses: { 200: json("One page", deliveryPageSchema), ...refusals },
});

const showRoute = createRoute({
  method: "get",
  path: "/deliveries/{id}",
  tags,
  summary: "One delivery with its attempts",
  request,
  responses: { 200: json("The delivery", deliverySchema), ...refusals },
});

const payloadRoute = createRoute({
  method: "get",
  path: "/deliveries/{id}/payload",
  tags,
  summary: "A delivery's bytes, as an attachment",
  description: "403 `payload_hidden` unless the endpoint has `showPayload`.",
  request,
  responses: {
    200: {
      description: "The bytes as they came",
      content: { "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) } },
    },
    ...refusals,
  },
});

const replayRoute = createRoute({
  method: "post",
  path: "/deliveries/{id}/replay",
  tags,
  summary: "Send a dead or delivered one again",
  description: "409 `wrong_state` while it is pending or in flight.",
  request,
  responses: { 202: json("The delivery, pending again", deliverySchema), ...refusals },
});

const cancelRoute = createRoute({
  method: "post",
  path: "/deliveries/{id}/cancel",
  tags,
  summary: "Give up on a pending one: dead, reason `cancelled`",
  request,
  responses: { 200: json("The delivery, dead now", deliverySchema), ...refusals },
});

const deadParams = z.object({ endpoint: z.string().openapi({ example: "github" }) });
const deadTags = ["Dead letters"];

const deadListRoute = createRoute({
  method: "get",
  path: "/dead-letters/{endpoint}",
  tags: deadTags,
  summary: "Dead deliveries of one endpoint, newest first",
  request: { params: deadParams, query: deadQuery },
  responses: { 200: json("One page", deliveryPageSchema), ...refusals },
});

const deadReplayRoute = createRoute({
  method: "post",
  path: "/dead-letters/{endpoint}/{id}/replay",
  tags: deadTags,
  summary: "Send a dead one again",
  request: { params: deadParams.extend({ id }), query: noQuery },
  responses: { 202: json("The delivery, pending again", deliverySchema), ...refusals },
});
