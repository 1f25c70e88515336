import { equalSecrets } from "../lib/auth/secret.ts";
import { hasToken } from "../lib/auth/token.ts";
import type { Endpoint } from "../lib/endpoint.ts";
import { type Problem, problem } from "../lib/errors.ts";
import { relayEndpoint } from "../lib/flow/relay_lanes.ts";
import { LIMITS } from "../lib/limits.ts";
import type { HeaderList } from "../lib/model.ts";
import type { RelaySettings } from "../lib/relay_settings.ts";
import { rawTarget } from "./door.ts";
import { type IngestRouteParts, type Remote, takeIn } from "./ingest.ts";
import { problemResponse } from "./problem.ts";

export interface RelayRouteParts extends IngestRouteParts {
  /** Absent where relay mode is off. */
  relayMode?: RelaySettings;
}

const HEADER = "x-forward-to";

/** Whether a request names a target: `/?to=URL` or the header. Anything else is not for this route. */
export function namesTarget(request: Request): boolean {
  const { path, query } = rawTarget(request.url);
  return path === "/" && (hasHeader(request) || rawValues(query, "to").length > 0);
}

const hasHeader = ({ headers }: Request) => (headers.get(HEADER) ?? "") !== "";

/**
 * Answers `ANY /?to=URL` and `X-Forward-To`. Who may call is asked before where to, so that
 * strangers do not learn which targets are allowed.
 */
export async function handleRelay(
  parts: RelayRouteParts,
  request: Request,
  remote: Remote,
): Promise<Response> {
  const { relayMode } = parts;
  if (relayMode === undefined) {
    return refuse(parts, problem("not_found", "cannot relay: relay mode is off"));
  }
  const refused = refusedCaller(relayMode, request);
  if (refused !== undefined) return refuse(parts, refused);
  const endpoint = endpointOf(relayMode, request);
  if ("code" in endpoint) return refuse(parts, endpoint);
  const endpoints = new Map([[endpoint.id, endpoint]]);
  return await takeIn({ ...parts, endpoints }, request, remote, {
    endpointId: endpoint.id,
    // The target is the given URL exactly: nothing of this request's own is added.
    path: "",
    query: "",
    headers: withoutToken(request.headers, relayMode.token),
  });
}

function refuse({ observe, clock }: RelayRouteParts, refused: Problem): Response {
  observe({ type: "refused", atMs: clock.nowMs(), code: refused.code, ms: 0 });
  return problemResponse(refused);
}

function refusedCaller({ token, gate }: RelaySettings, request: Request): Problem | undefined {
  if (token !== undefined && !showsToken(request, token)) {
    return problem("unauthorized", "cannot relay: RELAY_TOKEN is not shown");
  }
  if (gate === "github" && !looksLikeGithub(request.headers)) {
    return problem("forbidden", "cannot relay: the request has no marks of a GitHub delivery");
  }
  return undefined;
}

function showsToken(request: Request, token: string): boolean {
  const given = rawValues(rawTarget(request.url).query, "token").map(decoded);
  const inQuery = given.length === 1 && given[0] !== undefined && equalSecrets(given[0], token);
  return hasToken(request.headers.get("authorization"), token) || inQuery;
}

/** The relay's own token ends here; any other `Authorization` is the target's. */
function withoutToken(headers: Headers, token: string | undefined): HeaderList {
  return [...headers].filter(([name, value]) =>
    name !== "authorization" || !hasToken(value, token)
  );
}

/** docs.github.com, "Webhook events and payloads", delivery headers. */
function looksLikeGithub(headers: Headers): boolean {
  return Boolean(headers.get("x-github-event")) && Boolean(headers.get("x-github-delivery")) &&
    (headers.get("user-agent") ?? "").startsWith("GitHub-Hookshot/");
}

function endpointOf(settings: RelaySettings, request: Request): Endpoint | Problem {
  const { query } = rawTarget(request.url);
  const values = hasHeader(request) ? [request.headers.get(HEADER) ?? ""] : rawValues(query, "to");
  if (values.length !== 1) return problem("bad_parameter", "cannot relay: to is given twice");
  const targetUrl = hasHeader(request) ? values[0] : decoded(values[0]);
  if (targetUrl === undefined) {
    return problem("bad_parameter", "cannot relay: to is not percent-encoded UTF-8");
  }
  if (targetUrl.length > LIMITS.targetBytes) {
    return problem(
      "target_too_long",
      `cannot relay: the target has ${targetUrl.length} bytes, the limit is ${LIMITS.targetBytes}`,
    );
  }
  return relayEndpoint(settings, targetUrl) ??
    problem("target_not_allowed", "cannot relay: the target is none of RELAY_TARGETS");
}

/** The values of a parameter, undecoded. */
function rawValues(query: string, name: string): string[] {
  return query.split("&").filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
}

/** Percent-decoded; a plus sign stays one, since a URL holds no blanks that it could stand for. */
function decoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}
