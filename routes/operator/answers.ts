import { type Hook, z } from "@hono/zod-openapi";
import type { Env, MiddlewareHandler, TypedResponse } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ClientErrorStatusCode, ServerErrorStatusCode } from "hono/utils/http-status";
import { type Problem, problem } from "../../lib/errors.ts";
import { problemResponse } from "../problem.ts";
import { problemSchema } from "./schemas.ts";

type ErrorStatus = ClientErrorStatusCode | ServerErrorStatusCode;

/** A problem document as the typed handlers may return it. */
export type Refusal = Response & TypedResponse<z.output<typeof problemSchema>, ErrorStatus, "json">;

/** Answers with a problem document. */
export function refusal(refused: Problem, headers?: Record<string, string>): Refusal {
  return problemResponse(refused, headers) as Refusal;
}

/** What every route may answer besides its success. */
export const refusals = {
  default: {
    description: "A refusal, as a problem document",
    content: { "application/problem+json": { schema: problemSchema } },
  },
} as const;

/** A JSON answer in the form that route definitions want. */
export function json<T extends z.ZodType>(description: string, schema: T) {
  return { description, content: { "application/json": { schema } } };
}

/** Turns a failed check of parameters or body into a problem that names the field. */
// deno-lint-ignore no-explicit-any -- the hook serves every route, whatever its input
export const refuseInvalid: Hook<any, Env, any, Response | undefined> = (result) =>
  result.success
    ? undefined
    : problemResponse(badParameter(result.error, result.target === "query"));

function badParameter({ issues: [issue] }: z.ZodError, inQuery: boolean): Problem {
  const field = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    return bad(`${[field, shown(issue.keys[0])].filter(Boolean).join(".")} is not known here`);
  }
  return bad(`${field === "" ? "the body" : shown(field)} ${complaint(issue, inQuery)}`);
}

const bad = (what: string) => problem("bad_parameter", `cannot read the request: ${what}`);
const shown = (name: string) => name.slice(0, 40);

/** What is wrong with a value, without the value. Of a query, lists are repeated parameters. */
function complaint(issue: z.core.$ZodIssue, inQuery: boolean): string {
  switch (issue.code) {
    case "invalid_type":
      return inQuery && /received array/.test(issue.message)
        ? "is given more than once"
        : `is not of type ${issue.expected}`;
    case "invalid_value":
      return `is not one of ${issue.values.join(", ")}`;
    case "too_small":
      return "is empty";
    default:
      return issue.message;
  }
}

/** Answers a body that is not JSON; anything else that a handler threw goes on. */
export function refuseMalformed(error: Error): Response {
  if (!(error instanceof HTTPException) || error.status >= 500) throw error;
  return problemResponse(bad("its body is not JSON"));
}

/** A body is read as JSON whatever type is on it: curl calls any text a form, fetch plain text. */
export const asJson: MiddlewareHandler = async (context, next) => {
  const headers = new Headers(context.req.raw.headers);
  headers.set("content-type", "application/json");
  context.req.raw = new Request(context.req.raw, { headers });
  await next();
};

/** What operators read is not for caches on the way. */
export const unstored: MiddlewareHandler = async (context, next) => {
  await next();
  context.header("cache-control", "no-store");
};
