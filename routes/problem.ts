import { type Problem, problem, PROBLEMS } from "../lib/errors.ts";
import { LIMITS } from "../lib/limits.ts";

/** A refusal as `application/problem+json` (RFC 9457). A sender may want a status of its own. */
export function problemResponse(
  { code, detail }: Problem,
  headers: Record<string, string> = {},
  status: number = PROBLEMS[code][0],
): Response {
  const title = PROBLEMS[code][1];
  const body = { type: `urn:holdfast:problem:${code}`, title, status, code, detail };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...headers,
    },
  });
}

/** How soon to ask a store again that has not answered. */
export const RETRY_SOON = { "retry-after": String(LIMITS.retryAfterStoreS) };

/** The answer where the store could not be read or written. */
export function storeUnavailable(): Response {
  const refused = problem("store_unavailable", "cannot answer: the store does not");
  return problemResponse(refused, RETRY_SOON);
}

/**
 * The same for what an operator wanted changed. It may have been done, and a second replay sends
 * an event again: nothing is said of asking soon.
 */
export function changeUnknown(): Response {
  const detail =
    "cannot say whether it was done: the store did not answer, look before asking again";
  return problemResponse(problem("store_unavailable", detail));
}

/** Leaves what a handler threw to whoever asked the app: one place answers for all routes. */
export function passOn(error: Error): never {
  throw error;
}
