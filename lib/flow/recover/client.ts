import type { GithubAnswer } from "../../decide/github/answer.ts";
import type { FailureCode } from "../../model.ts";
import type { Credentials } from "./source.ts";

/** One request to GitHub's API. */
export interface GithubRequest {
  method: "GET" | "POST";
  /** Below the API's URL, with its query. */
  path: string;
}

/** Asks GitHub; an outage is an answer too. */
export type AskGithub = (request: GithubRequest, signal: AbortSignal) => Promise<GithubAnswer>;

type Octokit = typeof import("@octokit/request")["request"];

const TIMEOUT_MS = 15_000;
/** docs.github.com, "API versions". */
const HEADERS = {
  accept: "application/vnd.github+json",
  "user-agent": "holdfast",
  "x-github-api-version": "2022-11-28",
};
const QUIET = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * A client for one hook's credentials. The libraries are loaded with the first request, so
 * that a relay without GitHub starts without them.
 *
 * Octokit's throttling and retry plugins are left out: they sleep and repeat inside one
 * request, where neither the breaker, which all processes share, nor a stop could see it.
 */
export function githubClient(apiUrl: string, credentials: Credentials): AskGithub {
  let loading: Promise<Octokit> | undefined;
  return async ({ method, path }, signal) => {
    const request = await (loading ??= loadRequest(apiUrl, credentials));
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const { status, headers, data } = await request(`${method} ${path}`, {
        request: { signal: AbortSignal.any([signal, timeout]) },
      });
      return { status, headers: textHeaders(headers), data };
    } catch (error) {
      return failedAnswer(error as Error, signal, timeout);
    }
  };
}

async function loadRequest(apiUrl: string, credentials: Credentials): Promise<Octokit> {
  const { request } = await import("@octokit/request");
  const defaults = request.defaults({ baseUrl: apiUrl, headers: HEADERS, request: { log: QUIET } });
  if ("token" in credentials) {
    return defaults.defaults({ headers: { authorization: `Bearer ${credentials.token}` } });
  }
  const { createAppAuth } = await import("@octokit/auth-app");
  const auth = createAppAuth({ ...credentials, request: defaults, log: QUIET });
  return defaults.defaults({ request: { hook: auth.hook } });
}

/** Octokit throws what is no success; with a response it is an answer all the same. */
function failedAnswer(error: Error, stop: AbortSignal, timeout: AbortSignal): GithubAnswer {
  const { response } = error as {
    response?: { status: number; headers: Record<string, unknown>; data: unknown };
  };
  if (response !== undefined) {
    const { status, headers, data } = response;
    return { status, headers: textHeaders(headers), data };
  }
  return { code: codeOf(stop, timeout) };
}

function codeOf(stop: AbortSignal, timeout: AbortSignal): FailureCode {
  if (stop.aborted) return "aborted";
  return timeout.aborted ? "timeout" : "unreachable";
}

function textHeaders(headers: object): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value === undefined ? undefined : String(value),
    ]),
  );
}
