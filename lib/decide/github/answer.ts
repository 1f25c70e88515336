import type { FailureCode } from "../../model.ts";
import type { LaneResult } from "../breaker.ts";
import { parseRetryAfterMs } from "../retry_after.ts";

/** What GitHub answered to one request, or why it did not. */
export type GithubAnswer = GithubResponse | { code: FailureCode };

export interface GithubResponse {
  status: number;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | undefined>>;
  data: unknown;
}

/** Why GitHub could not be asked. */
export type TroubleKind =
  | "unreachable"
  | "outage"
  | "rate_limit"
  | "unexpected"
  | "credentials"
  | "permission"
  | "not_found";

export interface Trouble {
  kind: TroubleKind;
  /** The HTTP status, where there was an answer. */
  status?: number;
  code?: FailureCode;
}

/** Whether waiting does not help: somebody has to change something. */
export function needsPerson({ kind }: Trouble): boolean {
  return kind === "credentials" || kind === "permission" || kind === "not_found";
}

/** The breaker of GitHub: the reducer of the lanes with GitHub's own waits, 1 s to 1 h. */
export const GITHUB_BREAKER = { failures: 3, openMs: 1_000, capMs: 3_600_000 };

/** GitHub asks for at least so long where a secondary limit comes without headers. */
const UNTOLD_WAIT_MS = 60_000;

/** What stood in the way, as one of a few kinds; `undefined` for a success. */
export function troubleOf(answer: GithubAnswer): Trouble | undefined {
  if ("code" in answer) return { kind: "unreachable", code: answer.code };
  const { status } = answer;
  if (status < 400) return undefined;
  return { kind: isRateLimit(answer) ? "rate_limit" : kindOf(status), status };
}

function kindOf(status: number): TroubleKind {
  if (status >= 500) return "outage";
  if (status === 401) return "credentials";
  if (status === 403) return "permission";
  return status === 404 ? "not_found" : "unexpected";
}

/**
 * Both limits come as 403 or 429 (docs.github.com, "Rate limits for the REST API"); the
 * secondary one may carry no header at all, only words.
 */
function isRateLimit({ status, headers, data }: GithubResponse): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  const { message } = (data ?? {}) as { message?: unknown };
  return headers["retry-after"] !== undefined || headers["x-ratelimit-remaining"] === "0" ||
    (typeof message === "string" && /\brate limit\b/i.test(message));
}

/** The answer as the breaker takes it: a rate limit is a 429 that always names a time. */
export function breakerResult(answer: GithubAnswer, nowMs: number): LaneResult {
  if ("code" in answer) return answer;
  if (!isRateLimit(answer)) return { status: answer.status };
  const askedMs = waitMs(answer, nowMs);
  const boundedMs = Math.min(GITHUB_BREAKER.capMs, Math.max(GITHUB_BREAKER.openMs, askedMs));
  return { status: 429, retryAtMs: nowMs + boundedMs };
}

function waitMs({ headers }: GithubResponse, nowMs: number): number {
  const retryAtMs = parseRetryAfterMs(headers["retry-after"], nowMs);
  if (retryAtMs !== undefined) return retryAtMs - nowMs;
  const resetS = Number(headers["x-ratelimit-reset"]);
  if (headers["x-ratelimit-remaining"] !== "0" || !(resetS > 0)) return UNTOLD_WAIT_MS;
  // The reset is told on GitHub's clock, as is the answer's date.
  const githubNowMs = Date.parse(headers["date"] ?? "");
  return resetS * 1_000 - (Number.isNaN(githubNowMs) ? nowMs : githubNowMs);
}
