import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { troubleText } from "../../lib/decide/github/conditions.ts";
import type { Finding } from "../../lib/decide/github/finding.ts";
import type { HealthVerdict, StandingTrouble } from "../../lib/decide/github/watch.ts";
import { problem } from "../../lib/errors.ts";
import type { Watchdog, WatchView } from "../../lib/flow/recover/watchdog.ts";
import { json, refusal, refusals } from "./answers.ts";
import { noQuery } from "./query.ts";
import { iso } from "./shapes.ts";

/** Findings shown of one hook; the counts tell of all. */
const SHOWN = 100;

const time = z.string().openapi({ format: "date-time" });
const count = z.int().min(0);

const findingSchema = z.object({
  guid: z.string().openapi({ description: "GitHub's id of the event." }),
  kind: z.enum(["remote_failure", "phantom_ack"]),
  event: z.string(),
  action: z.string().optional(),
  statusCode: z.int().openapi({ description: "What GitHub says it was answered; 0 for nothing." }),
  deliveredAt: time,
  foundAt: time,
  tries: count.openapi({ description: "Redeliveries that GitHub was asked for." }),
  lastTriedAt: time.optional(),
  state: z.enum(["repairing", "open"]),
  reason: z.enum(["exhausted", "too_old", "gone"]).optional().openapi({
    description: "Why nothing more is tried.",
  }),
}).openapi("GithubFinding");

const healthSchema = z.object({
  state: z.enum(["ok", "drift", "unchecked"]),
  checkedAt: time.optional().openapi({ description: "When GitHub was last asked, with success." }),
  drifts: z.array(z.object({ kind: z.string(), detail: z.string() })),
}).openapi("GithubSetup");

const watchSchema = z.object({
  endpoint: z.string(),
  kind: z.enum(["app", "repo", "org"]),
  owner: z.string().optional(),
  checkedAt: time.optional().openapi({ description: "When the history was last read." }),
  judgedUpTo: time.openapi({ description: "Deliveries up to here have been looked at." }),
  nextPassAt: time,
  breaker: z.object({ state: z.enum(["closed", "open"]), until: time.optional() }),
  trouble: z.object({ kind: z.string(), since: time, count, detail: z.string() }).optional(),
  repaired: count,
  repairing: count,
  open: count,
  findings: z.array(findingSchema).openapi({ description: `The oldest ${SHOWN}.` }),
  setup: healthSchema,
}).openapi("GithubWatch");

const watchesSchema = z.object({ items: z.array(watchSchema), cursor: z.null() })
  .openapi("GithubWatches");

interface Parts {
  github: Watchdog;
}

/** `GET /github`, `POST /github/repair`. */
export function githubRoutes({ github }: Parts): OpenAPIHono {
  const app = new OpenAPIHono();
  const page = async () => ({ items: (await github.views()).map(watchShape), cursor: null });
  app.openapi(showRoute, async (context) => context.json(await page(), 200));
  app.openapi(repairRoute, async (context) => {
    if (!github.isConfigured) {
      return refusal(problem("wrong_state", "cannot repair: no endpoint has github set"));
    }
    await github.repairNow();
    return context.json(await page(), 202);
  });
  return app;
}

/** A watched hook as operators see it. */
export function watchShape({ source, row, findings }: WatchView) {
  const { endpoint, kind, owner } = source;
  const { breaker, trouble, progress, repaired, checkedAtMs, nextPassAtMs, health } = row;
  const open = findings.filter((finding) => finding.open !== undefined).length;
  const until = breaker.phase === "open" ? iso(breaker.openUntilMs) : undefined;
  return {
    endpoint,
    kind,
    owner,
    checkedAt: iso(checkedAtMs),
    judgedUpTo: iso(progress.watermarkMs),
    nextPassAt: iso(nextPassAtMs),
    breaker: { state: breaker.phase, until },
    trouble: trouble && troubleShape(trouble),
    repaired,
    repairing: findings.length - open,
    open,
    findings: findings.slice(0, SHOWN).map(findingShape),
    setup: setupShape(health),
  };
}

function troubleShape(trouble: StandingTrouble) {
  const { kind, sinceMs, count } = trouble;
  return { kind, since: iso(sinceMs), count, detail: troubleText(trouble) };
}

function findingShape(finding: Finding) {
  const { guid, kind, event, action, statusCode, tries, open } = finding;
  return {
    ...{ guid, kind, event, action, statusCode, tries },
    deliveredAt: iso(finding.deliveredAtMs),
    foundAt: iso(finding.foundAtMs),
    lastTriedAt: iso(finding.lastTriedAtMs),
    state: open === undefined ? "repairing" as const : "open" as const,
    reason: open,
  };
}

function setupShape({ checkedAtMs, drifts }: HealthVerdict) {
  const seen = drifts.length === 0 ? "ok" as const : "drift" as const;
  const state = checkedAtMs === undefined ? "unchecked" as const : seen;
  return { state, checkedAt: iso(checkedAtMs), drifts };
}

const tags = ["GitHub"];

const showRoute = createRoute({
  method: "get",
  path: "/github",
  tags,
  summary: "The watched hooks: history, missing events, how they are set up",
  request: { query: noQuery },
  responses: { 200: json("The watched hooks", watchesSchema), ...refusals },
});

const repairRoute = createRoute({
  method: "post",
  path: "/github/repair",
  tags,
  summary: "Look at GitHub's history now, with a fresh round of tries for what was given up",
  request: { query: noQuery },
  responses: { 202: json("The hooks as they are before the pass", watchesSchema), ...refusals },
});
