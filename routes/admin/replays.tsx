import { Hono } from "hono";
import { count, Time } from "../../islands/format.tsx";
import { csrfToken } from "../../lib/auth/forgery.ts";
import { type Problem, problem } from "../../lib/errors.ts";
import {
  cancelReplays,
  showReplays,
  startReplays,
  type Survey,
  surveyReplays,
} from "../../lib/flow/operate/replays.ts";
import type { ReplayJob } from "../../lib/store/jobs.ts";
import type { ReplayFilter } from "../../lib/store/replayable.ts";
import { jobShape } from "../operator/replays.ts";
import type { AdminContext, AdminEnv, AdminParts } from "./context.ts";
import { type Filters, readFilters } from "./filters.tsx";
import { formOf } from "./form.ts";
import { Island } from "./island.tsx";
import { CsrfField, page, problemPage } from "./layout.tsx";

/** `/admin/replays`: a dry run of a bulk replay, its start, its progress, its end. */
export function replayPages({ relay }: AdminParts): Hono<AdminEnv> {
  const app = new Hono<AdminEnv>();
  app.get("/new", async (context) => {
    const filters = readFilters(context.req.query(), { state: "dead" });
    const filter = replayFilter(filters);
    const survey = "code" in filter ? filter : await surveyReplays(relay, filter);
    if ("code" in survey) return problemPage(context, survey);
    const nowMs = relay.clock.nowMs();
    return page(
      context,
      { title: "Replay" },
      <DryRun context={context} filters={filters} survey={survey} nowMs={nowMs} />,
    );
  });

  app.post("/", async (context) => {
    const form = await formOf(context);
    const texts = Object.entries(form).filter((entry): entry is [string, string] =>
      typeof entry[1] === "string"
    );
    const filter = replayFilter(readFilters(Object.fromEntries(texts), { state: "dead" }));
    const job = "code" in filter ? filter : await startReplays(relay, filter);
    return "code" in job
      ? problemPage(context, job)
      : context.redirect(`/admin/replays/${job.id}`, 303);
  });

  app.get("/:id", async (context) => {
    const job = await showReplays(relay, context.req.param("id"));
    if ("code" in job) return problemPage(context, job);
    const csrf = csrfToken(context.var.session.secret);
    const props = { job: jobShape(job), csrf, nowMs: relay.clock.nowMs() };
    return page(
      context,
      { title: "Replay" },
      <>
        <h1>Replay of {filterText(job.filter)}</h1>
        <Island name="ReplayJob" props={props} />
        <p>
          <a href="/admin/dead-letters">Back to the dead letters</a>
        </p>
      </>,
    );
  });

  app.post("/:id/cancel", async (context) => {
    const id = context.req.param("id");
    const job: ReplayJob | Problem = await cancelReplays(relay, id);
    return "code" in job
      ? problemPage(context, job)
      : context.redirect(`/admin/replays/${id}`, 303);
  });
  return app;
}

function replayFilter({ query, fault }: Filters): ReplayFilter | Problem {
  if (query === undefined) return problem("bad_parameter", fault ?? "cannot replay");
  const { endpoint, reason, since, until } = query;
  return { endpoint, state: "dead", reason, sinceMs: since, untilMs: until };
}

function filterText({ endpoint, reason }: ReplayFilter): string {
  return [endpoint ?? "all endpoints", reason].filter(Boolean).join(", ");
}

interface DryRunProps {
  context: AdminContext;
  filters: Filters;
  survey: Survey;
  nowMs: number;
}

/** What a job would do, before it does it. It will take no more than what is seen here. */
function DryRun({ context, filters: { given }, survey, nowMs }: DryRunProps) {
  const { oldestAtMs, newestAtMs, alreadyDelivered, atLeast } = survey;
  const until = given.until ?? new Date(nowMs).toISOString();
  return (
    <section class="card narrow">
      <h1>Replay all that fit?</h1>
      <dl class="facts">
        <dt>Endpoint</dt>
        <dd>{given.endpoint ?? "all"}</dd>
        <dt>Reason</dt>
        <dd>{given.reason ?? "any"}</dd>
        <dt>Dead letters</dt>
        <dd>
          <strong>{atLeast ? "at least " : ""}{count(survey.count)}</strong>
        </dd>
        {oldestAtMs !== undefined && newestAtMs !== undefined && (
          <>
            <dt>Accepted</dt>
            <dd>
              <Time at={new Date(oldestAtMs).toISOString()} nowMs={nowMs} /> to{" "}
              <Time at={new Date(newestAtMs).toISOString()} nowMs={nowMs} />
            </dd>
          </>
        )}
        <dt>Taken before</dt>
        <dd>{count(alreadyDelivered)} were delivered once already</dd>
      </dl>
      {survey.count === 0
        ? <p class="empty">There is nothing to replay.</p>
        : (
          <form method="post" action="/admin/replays" class="buttons">
            <CsrfField context={context} />
            {Object.entries({ ...given, until }).map(([name, value]) => (
              <input key={name} type="hidden" name={name} value={value} />
            ))}
            <button type="submit" class="primary">Replay {count(survey.count)}</button>
            <a class="button" href="/admin/dead-letters">Back</a>
          </form>
        )}
    </section>
  );
}
