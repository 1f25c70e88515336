import { problem } from "../lib/errors.ts";
import { problemResponse } from "./problem.ts";

/** RFC 9110 §7.2: `host[:port]`, a registered name, an IPv4 address or a bracketed IPv6 one. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

/**
 * Looks at a request before anything else does. A Host that is no host would become part of
 * the URL and so choose another route, or the URL would be none (RFC 9112 §3.2 asks for 400);
 * two framings of one body are two messages to two readers (RFC 9112 §6.1). Returns the
 * refusal, if any.
 */
export function refuseAtDoor(request: Request): Response | undefined {
  const { headers } = request;
  const host = headers.get("host");
  if ((host !== null && !HOST.test(host)) || !URL.canParse(request.url)) {
    return problemResponse(problem("bad_host", "cannot read the request: Host is not host[:port]"));
  }
  const coding = headers.get("transfer-encoding");
  if (
    coding !== null && (headers.has("content-length") || coding.trim().toLowerCase() !== "chunked")
  ) {
    const detail = "cannot read the request: Transfer-Encoding is not chunked alone";
    return problemResponse(problem("bad_framing", detail), { connection: "close" });
  }
  return undefined;
}

/** The path and the raw query of a request, as they came: never decoded or normalised. */
export function rawTarget(url: string): { path: string; query: string } {
  const pathAt = url.indexOf("/", url.indexOf("://") + 3);
  const target = pathAt < 0 ? "/" : url.slice(pathAt);
  const queryAt = target.indexOf("?");
  return queryAt < 0
    ? { path: target, query: "" }
    : { path: target.slice(0, queryAt), query: target.slice(queryAt + 1) };
}
