import type { MiddlewareHandler } from "hono";
import { hasToken } from "../../lib/auth/token.ts";
import { problem } from "../../lib/errors.ts";
import { problemResponse } from "../problem.ts";

/** Lets operators in: closed (503) without a secret, 401 without the right one. */
export function guard(adminToken: string | undefined): MiddlewareHandler {
  return async (context, next) => {
    if (adminToken === undefined) {
      return problemResponse(
        problem("admin_disabled", "cannot open the operator surface: ADMIN_TOKEN is not set"),
      );
    }
    if (!hasToken(context.req.header("authorization") ?? null, adminToken)) {
      const headers = { "www-authenticate": 'Bearer realm="holdfast"' };
      return problemResponse(
        problem("unauthorized", "cannot let you in: the bearer token is missing or wrong"),
        headers,
      );
    }
    await next();
  };
}
