import { type Problem, problem } from "../errors.ts";
import { equalSecrets, hashFor } from "./secret.ts";

/** The header in which scripts of the admin page send the token against forged requests. */
export const CSRF_HEADER = "x-csrf-token";
/** The form field for the same. */
export const CSRF_FIELD = "csrf";

/** The token of a session: it proves that whoever sends it could read one of our pages. */
export function csrfToken(sessionSecret: string): string {
  return hashFor("csrf", sessionSecret);
}

/** Refuses a write whose token is not the session's. */
export function tokenFault(sessionSecret: string, given: string | undefined): Problem | undefined {
  return given !== undefined && equalSecrets(given, csrfToken(sessionSecret))
    ? undefined
    : refused("its token is missing or of another session; load the page again");
}

/**
 * Refuses a write that a page of another site sent. Browsers name the page's origin with every
 * POST (Fetch §3.2); a request that names none, and no `Sec-Fetch-Site` either, is from no
 * browser and can use the bearer token.
 */
export function originFault(headers: Headers, publicUrl: string | undefined): Problem | undefined {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") return refused(`Sec-Fetch-Site is not same-origin`);
  const origin = headers.get("origin");
  if (origin === null) {
    return site === null ? refused("it has neither Origin nor Sec-Fetch-Site") : undefined;
  }
  if (publicUrl !== undefined) {
    return origin === publicUrl ? undefined : refused("Origin is not PUBLIC_URL");
  }
  const host = URL.canParse(origin) ? new URL(origin).host : undefined;
  return host === headers.get("host") ? undefined : refused("Origin is not this host");
}

const refused = (why: string) => problem("csrf_refused", `cannot do what a page asks: ${why}`);
