import type { MiddlewareHandler } from "hono";
import { hasToken } from "../../lib/auth/token.ts";
import { problem } from "../../lib/errors.ts";
import { problemResponse } from "../problem.ts";

/** Keeps what is no secret, but of no use either, shut (503) while nobody can sign in. */
export function shut(adminToken: string | undefined): MiddlewareHandler {
  return async (_, next) => adminToken === undefined ? disabled() : await next();
}

/** Lets operators in: closed (503) without a secret, 401 without the right one. */
export function guard(adminToken: string | undefined): MiddlewareHandler {
  return async (context, next) => {
    if (adminToken === undefined) return disabled();
    if (!hasToken(context.req.header("authorization") ?? null, adminToken)) {
      return problemResponse(
        problem("unauthorized", "cannot let you in: the bearer token is missing or wrong"),
        { "www-authenticate": 'Bearer realm="holdfast"' },
      );
    }
    await next();
  };
}

function disabled(): Response {
  return problemResponse(
    problem("admin_disabled", "cannot open the operator surface: ADMIN_TOKEN is not set"),
  );
}
