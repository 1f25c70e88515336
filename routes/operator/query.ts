import { z } from "zod";
import { type Problem, problem } from "../../lib/errors.ts";

const MAX_LIMIT = 500;
const DEFAULT_LIMIT = 50;

/** A ULID (https://github.com/ulid/spec): 26 digits of Crockford's base 32. */
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

const instant = z.string().transform((text, context) => {
  const ms = Date.parse(text);
  // Date.parse reads bare numbers as years; a time is an ISO 8601 date at least.
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(ms)) return ms;
  context.addIssue({ code: "custom", message: "is not an ISO 8601 time" });
  return z.NEVER;
});

const limit = z.string().regex(/^\d{1,9}$/, "is not a whole number from 1 to 500").transform(Number)
  .refine((n) => n >= 1, "is not a whole number from 1 to 500")
  .transform((n) => Math.min(n, MAX_LIMIT));

const cursor = z.string().transform((text, context) => {
  if (text === "") return undefined;
  const id = readCursor(text);
  if (id !== undefined) return id;
  context.addIssue({ code: "custom", message: "is not a cursor of this list" });
  return z.NEVER;
});

const listQuery = z.strictObject({
  endpoint: z.string().min(1).optional(),
  state: z.enum(["pending", "in_flight", "delivered", "dead"]).optional(),
  reason: z.enum(["rejected", "redirect", "exhausted", "expired", "cancelled"]).optional(),
  event_id: z.string().min(1).optional(),
  since: instant.optional(),
  until: instant.optional(),
  limit: limit.default(DEFAULT_LIMIT),
  cursor: cursor.optional(),
});

export type ListQuery = z.output<typeof listQuery>;

/** Reads a list's query; an unknown or repeated parameter is a refusal, never ignored. */
export function parseListQuery(params: URLSearchParams): ListQuery | Problem {
  for (const name of params.keys()) {
    if (params.getAll(name).length > 1) {
      return problem("bad_parameter", `cannot list: ${name.slice(0, 40)} is given twice`);
    }
  }
  const parsed = listQuery.safeParse(Object.fromEntries(params));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const what = issue.code === "unrecognized_keys"
    ? `${issue.keys[0].slice(0, 40)} is not a known parameter`
    : `${String(issue.path[0])} ${
      issue.message.startsWith("is ") ? issue.message : "has no such value"
    }`;
  return problem("bad_parameter", `cannot list: ${what}`);
}

/** A place in a list, as text that clients need not understand. */
export function makeCursor(beforeId: string): string {
  return btoa(`1:${beforeId}`).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function readCursor(text: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{1,60}$/.test(text)) return undefined;
  try {
    const [version, id] = atob(text.replaceAll("-", "+").replaceAll("_", "/")).split(":");
    return version === "1" && ULID.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
