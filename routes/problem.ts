import { type Problem, PROBLEMS } from "../lib/errors.ts";

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
