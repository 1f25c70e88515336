import { type Problem, PROBLEMS } from "../lib/errors.ts";

/** A refusal as `application/problem+json` (RFC 9457). */
export function problemResponse(
  { code, detail }: Problem,
  headers: Record<string, string> = {},
): Response {
  const [status, title] = PROBLEMS[code];
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
