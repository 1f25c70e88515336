import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Problem } from "../../lib/errors.ts";
import {
  cancelReplays,
  latestReplays,
  type ReplayParts,
  showReplays,
  startReplays,
  surveyReplays,
} from "../../lib/flow/operate/replays.ts";
import type { ReplayJob } from "../../lib/store/jobs.ts";
import type { ReplayFilter } from "../../lib/store/replayable.ts";
import { asJson, json, refusal, refusals } from "./answers.ts";
import { deadReason, EXAMPLE_ID, instant, noQuery } from "./query.ts";
import { jobPageSchema, jobSchema, replaySurveySchema } from "./schemas.ts";
import { iso } from "./shapes.ts";

const filterSchema = z.strictObject({
  endpoint: z.string().min(1).optional(),
  state: z.enum(["dead", "delivered"]).optional().openapi({ default: "dead" }),
  reason: deadReason.optional(),
  since: instant.optional(),
  until: instant.optional(),
  dryRun: z.boolean().optional().openapi({ description: "Only say what would be replayed." }),
}).superRefine((filter, context) => {
  const { dryRun: _, ...filters } = filter;
  if (Object.values(filters).every((value) => value === undefined)) {
    context.addIssue({
      code: "custom",
      path: ["state"],
      message: "is missing: without any filter it must be named",
    });
  }
  if (filter.reason !== undefined && filter.state === "delivered") {
    context.addIssue({ code: "custom", path: ["reason"], message: "is not a delivered one's" });
  }
}).openapi("ReplayFilter");

/** Routes under `/replays`: jobs that replay many. */
export function replayRoutes(parts: ReplayParts): OpenAPIHono {
  const app = new OpenAPIHono();

  app.openapi(startRoute, async (context) => {
    const { dryRun, ...asked } = context.req.valid("json");
    const filter = filterOf(asked);
    if (dryRun) {
      const survey = await surveyReplays(parts, filter);
      if ("code" in survey) return refusal(survey);
      const { oldestAtMs, newestAtMs, lanes: _, ...counted } = survey;
      return context.json(
        { ...counted, dryRun, oldest: iso(oldestAtMs), newest: iso(newestAtMs) },
        200,
      );
    }
    const job = await startReplays(parts, filter);
    return "code" in job ? refusal(job) : context.json(jobShape(job), 202);
  });

  app.openapi(listRoute, async (context) => {
    const items = (await latestReplays(parts)).map(jobShape);
    return context.json({ items, cursor: null }, 200);
  });

  app.openapi(showRoute, async (context) => {
    const job = await showReplays(parts, context.req.valid("param").id);
    return isProblem(job) ? refusal(job) : context.json(jobShape(job), 200);
  });

  app.openapi(cancelRoute, async (context) => {
    const job = await cancelReplays(parts, context.req.valid("param").id);
    return isProblem(job) ? refusal(job) : context.json(jobShape(job), 200);
  });
  return app;
}

const isProblem = (result: ReplayJob | Problem): result is Problem => "code" in result;

type Asked = Omit<z.output<typeof filterSchema>, "dryRun">;

function filterOf({ endpoint, state = "dead", reason, since, until }: Asked): ReplayFilter {
  return { endpoint, state, reason, sinceMs: since, untilMs: until };
}

/** A job as the API shows it. */
export function jobShape(
  { id, state, total, done, skipped, createdAtMs, finishedAtMs, filter }: ReplayJob,
) {
  const { sinceMs, untilMs, ...rest } = filter;
  return {
    ...{ id, state, total, done, skipped },
    createdAt: iso(createdAtMs),
    finishedAt: iso(finishedAtMs),
    filter: { ...rest, since: iso(sinceMs), until: iso(untilMs) },
  };
}

const tags = ["Replays"];
const id = z.string().openapi({ example: EXAMPLE_ID });
const request = { params: z.object({ id }), query: noQuery };

const startRoute = createRoute({
  method: "post",
  path: "/replays",
  tags,
  summary: "Send everything that fits again",
  description:
    "A job takes what was accepted before it was created, oldest first, as fast as the endpoints' limits let it beside live events. It survives restarts.",
  middleware: [asJson] as const,
  request: {
    query: noQuery,
    body: { required: true, content: { "application/json": { schema: filterSchema } } },
  },
  responses: {
    200: json("With `dryRun`: what would be replayed", replaySurveySchema),
    202: json("The job", jobSchema),
    ...refusals,
  },
});

const listRoute = createRoute({
  method: "get",
  path: "/replays",
  tags,
  summary: "The latest jobs, newest first",
  request: { query: noQuery },
  responses: { 200: json("The jobs", jobPageSchema), ...refusals },
});

const showRoute = createRoute({
  method: "get",
  path: "/replays/{id}",
  tags,
  summary: "One job and how far it is",
  request,
  responses: { 200: json("The job", jobSchema), ...refusals },
});

const cancelRoute = createRoute({
  method: "post",
  path: "/replays/{id}/cancel",
  tags,
  summary: "End a job; what it has replayed stays replayed",
  request,
  responses: { 200: json("The job, cancelled now", jobSchema), ...refusals },
});
