import type { Context, MiddlewareHandler } from "hono";
import type { Access, Session } from "../../lib/auth/access.ts";
import { CSRF_HEADER, originFault, tokenFault } from "../../lib/auth/forgery.ts";
import { hasToken } from "../../lib/auth/token.ts";
import { type Problem, problem } from "../../lib/errors.ts";
import { problemResponse } from "../problem.ts";

/** What the guard tells the routes behind it. */
export interface GuardedEnv {
  /** Absent where the bearer token opened the door. */
  Variables: { session?: Session };
}

/** Keeps what is no secret, but of no use either, shut (503) while nobody can sign in. */
export function shut(access: Access): MiddlewareHandler {
  return async (_, next) => access.isOpen ? await next() : disabled();
}

/**
 * Lets operators in: closed (503) where nobody can be one, 401 without the right token or a
 * session, 403 for a write by session that one of our own pages did not send.
 */
export function guard(access: Access): MiddlewareHandler<GuardedEnv> {
  return async (context, next) => {
    if (!access.isOpen) return disabled();
    const refused = await refusal(access, context);
    if (refused === undefined) return await next();
    return problemResponse(
      refused,
      refused.code === "unauthorized" ? { "www-authenticate": 'Bearer realm="holdfast"' } : {},
    );
  };
}

async function refusal(
  access: Access,
  context: Context<GuardedEnv>,
): Promise<Problem | undefined> {
  const { req } = context;
  const { headers } = req.raw;
  const authorization = headers.get("authorization");
  if (hasToken(authorization, access.settings.adminToken)) return undefined;
  const session = authorization === null ? await access.session(headers) : undefined;
  if (session === undefined) {
    return problem("unauthorized", "cannot let you in: the bearer token is missing or wrong");
  }
  context.set("session", session);
  if (req.method === "GET" || req.method === "HEAD") return undefined;
  return originFault(headers, access.settings.publicUrl) ??
    tokenFault(session.secret, headers.get(CSRF_HEADER) ?? undefined);
}

function disabled(): Response {
  return problemResponse(
    problem("admin_disabled", "cannot open the operator surface: ADMIN_TOKEN is not set"),
  );
}
