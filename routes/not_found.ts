import type { Env, Hono } from "hono";
import { problem } from "../lib/errors.ts";
import { problemResponse } from "./problem.ts";

/**
 * Answers where no route fits: 405 with `Allow` where the path has routes for other
 * methods (RFC 9110 §15.5.6), else 404.
 */
export function answerNotFound<E extends Env>(app: Hono<E>): void {
  app.notFound(({ req }) => {
    const allowed = methodsOf(app, req.path);
    if (allowed.length === 0) {
      return problemResponse(problem("not_found", "cannot find the page: no such route"));
    }
    const allow = allowed.join(", ");
    const refused = problem("method_not_allowed", `cannot answer: method is not one of ${allow}`);
    return problemResponse(refused, { allow });
  });
}

function methodsOf<E extends Env>(app: Hono<E>, path: string): string[] {
  const fitting = app.routes.filter((route) => fits(route.path, path));
  const methods = new Set(fitting.map(({ method }) => method).filter((name) => name !== "ALL"));
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods].toSorted();
}

/** Whether a path is one of a route's: segments that start with a colon stand for any. */
function fits(pattern: string, path: string): boolean {
  const wanted = pattern.split("/");
  const given = path.split("/");
  return wanted.length === given.length &&
    wanted.every((part, index) =>
      part.startsWith(":") ? given[index] !== "" : part === given[index]
    );
}
