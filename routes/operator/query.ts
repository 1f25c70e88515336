import { z } from "@hono/zod-openapi";
import { isId } from "../../lib/ids.ts";

const MAX_LIMIT = 500;
const DEFAULT_LIMIT = 50;

/** An id as the document shows one. */
export const EXAMPLE_ID = "01JVA8Z6N3Q4T5W6X7Y8Z9A0BC";

/** An instant as text; its output is epoch milliseconds. */
export const instant = z.string().transform((text, context) => {
  const ms = Date.parse(text);
  // Date.parse reads bare numbers as years; a time is an ISO 8601 date at least.
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(ms)) return ms;
  context.addIssue({ code: "custom", message: "is not an ISO 8601 time" });
  return z.NEVER;
}).openapi({ type: "string", format: "date-time" });

const NO_LIMIT = `is not a whole number from 1 to ${MAX_LIMIT}`;

const limit = z.string().regex(/^\d{1,9}$/, NO_LIMIT).transform(Number)
  .refine((n) => n >= 1, NO_LIMIT)
  .transform((n) => Math.min(n, MAX_LIMIT))
  .openapi({
    type: "integer",
    minimum: 1,
    default: DEFAULT_LIMIT,
    description: `Rows of one page; more than ${MAX_LIMIT} counts as ${MAX_LIMIT}.`,
  });

const cursor = z.string().transform((text, context) => {
  if (text === "") return undefined;
  const id = readCursor(text);
  if (id !== undefined) return id;
  context.addIssue({ code: "custom", message: "is not a cursor of this list" });
  return z.NEVER;
}).openapi({ type: "string", description: "From the page before; empty is the first page." });

/** States and reasons, as requests and answers name them. */
export const deliveryState = z.enum(["pending", "in_flight", "delivered", "dead"]);
export const deadReason = z.enum(["rejected", "redirect", "exhausted", "expired", "cancelled"]);

/** Filters and place of a list of dead letters. */
export const deadQuery = z.strictObject({
  reason: deadReason.optional(),
  event_id: z.string().min(1).optional(),
  since: instant.optional(),
  until: instant.optional(),
  limit: limit.default(DEFAULT_LIMIT),
  cursor: cursor.optional(),
});

/** Filters and place of a list of deliveries. */
export const listQuery = deadQuery.extend({
  endpoint: z.string().min(1).optional(),
  state: deliveryState.optional(),
});

export type ListQuery = z.output<typeof listQuery>;

/** The query of routes that have no parameters: any is a mistake. */
export const noQuery = z.strictObject({});

/** A place in a list, as text that clients need not understand. */
export function makeCursor(beforeId: string): string {
  return btoa(`1:${beforeId}`).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function readCursor(text: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{1,60}$/.test(text)) return undefined;
  try {
    const [version, id] = atob(text.replaceAll("-", "+").replaceAll("_", "/")).split(":");
    return version === "1" && isId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
