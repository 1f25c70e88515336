import type { MiddlewareHandler } from "hono";
import { CSRF_FIELD, originFault, tokenFault } from "../../lib/auth/forgery.ts";
import { problem } from "../../lib/errors.ts";
import { problemResponse } from "../problem.ts";
import type { AdminEnv, AdminParts } from "./context.ts";
import { fieldOf, formOf } from "./form.ts";
import { problemPage } from "./layout.tsx";

/**
 * Headers of every page: nothing but our own files runs or loads, nobody frames us. The
 * referrer stays inside: `no-referrer` would make browsers send `Origin: null` with our forms.
 */
export const pageHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  const { headers } = context.res;
  headers.set("content-security-policy", CSP);
  headers.set("x-content-type-options", "nosniff");
  headers.set("x-frame-options", "DENY");
  headers.set("referrer-policy", "same-origin");
  headers.set("cross-origin-opener-policy", "same-origin");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
};

const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
  "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Shuts the page (503) while nobody could sign in. */
export function shutPages({ access }: AdminParts): MiddlewareHandler<AdminEnv> {
  return async (_, next) => {
    if (access.isOpen) return await next();
    return problemResponse(
      problem("admin_disabled", "cannot open the admin page: ADMIN_TOKEN is not set"),
    );
  };
}

/**
 * Lets in who is signed in; others are led to the sign-in page and back. A write must come
 * from one of our pages with the session's token.
 */
export function signedIn({ access }: AdminParts): MiddlewareHandler<AdminEnv> {
  return async (context, next) => {
    const { req } = context;
    const session = await access.session(req.raw.headers);
    const reads = req.method === "GET" || req.method === "HEAD";
    if (session === undefined) {
      if (req.header("accept")?.includes("text/html")) {
        return context.redirect(`/admin/sign-in${reads ? returnQuery(req.url) : ""}`, 303);
      }
      return problemResponse(problem("unauthorized", "cannot let you in: sign in first"));
    }
    context.set("session", session);
    if (reads) return await next();
    const fault = originFault(req.raw.headers, access.settings.publicUrl) ??
      tokenFault(session.secret, fieldOf(await formOf(context), CSRF_FIELD));
    return fault === undefined ? await next() : problemPage(context, fault);
  };
}

function returnQuery(url: string): string {
  const { pathname, search } = new URL(url);
  const back = pathname + search;
  return back === "/admin" ? "" : `?return=${encodeURIComponent(back)}`;
}
