import type { MiddlewareHandler } from "hono";
import { readBody, type ReadParts } from "../lib/flow/read_body.ts";
import { bodySource } from "./body_source.ts";
import { problemResponse } from "./problem.ts";

/** Filters and forms are short. Below what is staged, so nothing of them is ever stored. */
const MAX_BYTES = 64 * 1_024;

/**
 * Reads an operator's request body before its handler does, within the limits of every other
 * body: what is too large, stands still or ends early is refused (413, 408, 400).
 */
export function shortBody(parts: ReadParts): MiddlewareHandler {
  return async (context, next) => {
    const { raw } = context.req;
    if (raw.body === null) return await next();
    const read = await readBody(parts, bodySource(raw), "", MAX_BYTES, 0, undefined);
    if ("code" in read) return problemResponse(read);
    context.req.raw = new Request(raw, { body: read.whole?.slice() });
    await next();
  };
}
