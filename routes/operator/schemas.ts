import { z } from "@hono/zod-openapi";
import { type ProblemCode, PROBLEMS } from "../../lib/errors.ts";
import { deadReason, deliveryState, EXAMPLE_ID } from "./query.ts";

/** What the API answers. The same schemas type the handlers and make the document. */

const time = z.string().openapi({ format: "date-time", example: "2026-05-14T09:30:00.000Z" });
const count = z.int().min(0);
const milliseconds = z.number().min(0);

export const problemSchema = z.object({
  type: z.string().openapi({ example: "urn:holdfast:problem:unknown_delivery" }),
  title: z.string(),
  status: z.int(),
  code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]),
  detail: z.string(),
}).openapi("Problem", { description: "A refusal (RFC 9457); `code` is for programs." });

const attemptSchema = z.object({
  n: z.int().min(1),
  at: time,
  ms: milliseconds.openapi({ description: "Until the answer's head, or the failure." }),
  status: z.int().optional(),
  code: z.string().optional().openapi({
    description: "Why there was no answer: `timeout`, `refused`, `dns`, `tls`, …",
  }),
  location: z.string().optional(),
  outcome: z.enum(["delivered", "retry", "dead", "refunded"]),
  retryAt: time.optional(),
}).openapi("Attempt");

export const deliverySchema = z.object({
  id: z.string().openapi({ example: EXAMPLE_ID }),
  endpoint: z.string(),
  eventId: z.string(),
  state: deliveryState,
  reason: deadReason.optional(),
  method: z.string(),
  path: z.string(),
  query: z.string().openapi({
    description: "Raw query; values are masked unless the endpoint has `showPayload`.",
  }),
  bytes: count,
  sha256: z.string(),
  acceptedAt: time,
  dueAt: time.optional(),
  settledAt: time.optional(),
  attemptCount: count,
  replays: count,
  attempts: z.array(attemptSchema),
  headers: z.array(z.tuple([z.string(), z.string()])).optional().openapi({
    type: "array",
    items: { type: "array", items: { type: "string" }, minItems: 2, maxItems: 2 },
    description: "Of one delivery alone, and only where the endpoint has `showPayload`.",
  }),
}).openapi("Delivery");

const cursor = z.string().nullable().openapi({
  description: "Ask for the next page with it; null on the last page.",
});

export const deliveryPageSchema = z.object({ items: z.array(deliverySchema), cursor })
  .openapi("DeliveryPage");

const totalsSchema = z.object({
  accepted: count,
  duplicate: count,
  attempts: count,
  failed: count,
  delivered: count,
  dead: count,
  replayed: count,
}).openapi("Totals", { description: "What happened in the last hour, over all processes." });

const countsSchema = z.object({
  pending: count,
  inFlight: count,
  dead: count,
  countedUpTo: count.openapi({ description: "Where counting ends: more is shown as this." }),
  lastHour: totalsSchema,
}).openapi("Counts");

const breakerSchema = z.object({
  state: z.enum(["closed", "open"]),
  until: time.optional(),
  cause: z.enum(["connection", "answer", "rate_limit"]).optional(),
  probing: z.boolean().optional(),
}).openapi("Breaker");

const health = z.enum(["enabled", "failing", "disabled"]);

const fateFields = {
  health,
  disabledBy: z.enum(["operator", "relay"]).optional(),
  paused: z.boolean(),
  pausedAt: time.optional(),
  breaker: breakerSchema,
  counts: countsSchema,
  oldestPendingAt: time.optional(),
  blockedBy: z.object({ deliveryId: z.string(), until: time.optional() }).optional().openapi({
    description: "Ordered endpoints: the delivery that everything else waits for.",
  }),
};

export const laneSchema = z.object({ endpoint: z.string(), ...fateFields }).openapi("Lane");

export const endpointSchema = z.object({
  id: z.string(),
  targetUrl: z.string().openapi({ description: "Its origin: the rest may be a credential." }),
  provider: z.string().optional(),
  secrets: z.array(z.string()).openapi({ description: "Masked." }),
  signatureHeader: z.string().optional(),
  verifyToken: z.string().optional().openapi({ description: "Masked." }),
  signingSecret: z.string().optional().openapi({ description: "Masked." }),
  headers: z.record(z.string(), z.string()).openapi({ description: "Values are masked." }),
  idHeaders: z.array(z.string()).optional(),
  idPath: z.string().optional(),
  dedup: z.enum(["auto", "id", "off"]),
  dedupWindowMs: milliseconds.optional(),
  methods: z.array(z.string()),
  maxBodyBytes: count,
  forwardPath: z.boolean(),
  forwardQuery: z.boolean(),
  ordered: z.boolean(),
  restamp: z.boolean(),
  showPayload: z.boolean(),
  retry: z.object({
    delaysMs: z.array(milliseconds),
    maxAgeMs: milliseconds.optional(),
    jitter: z.number(),
  }),
  retryStatuses: z.array(z.int()),
  timeoutMs: milliseconds,
  concurrency: count,
  rateLimit: z.number().optional(),
  breakerSettings: z.union([
    z.literal(false),
    z.object({ failures: count, openMs: milliseconds, capMs: milliseconds }),
  ]),
  disableAfterMs: milliseconds,
  retentionMs: milliseconds,
  deadRetentionMs: milliseconds.optional(),
  handshake: z.object({ at: time, report: z.string() }).optional().openapi({
    description: "What the sender's last handshake left for the operator to do. Shown here alone.",
  }),
  ...fateFields,
}).openapi("Endpoint");

export const endpointPageSchema = z.object({ items: z.array(endpointSchema), cursor })
  .openapi("EndpointPage");

export const testResultSchema = z.object({
  ok: z.boolean().openapi({ description: "Whether the target answered 2xx." }),
  at: time,
  ms: milliseconds,
  status: z.int().optional(),
  code: z.string().optional(),
}).openapi("TestResult");

const conditionSchema = z.object({
  type: z.string(),
  severity: z.enum(["info", "warning", "critical"]),
  since: time,
  count,
  subject: z.string().optional(),
  detail: z.string(),
}).openapi("Condition");

export const statusSchema = z.object({
  version: z.string(),
  at: time,
  scheduler: z.object({
    mode: z.enum(["auto", "queue", "sweep"]),
    queue: z.enum(["off", "unknown", "works", "unavailable"]),
    sweptAt: time.optional(),
  }),
  lanes: z.array(laneSchema),
  counts: countsSchema,
  oldestPendingAt: time.optional(),
  conditions: z.array(conditionSchema),
}).openapi("Status");

export const jobSchema = z.object({
  id: z.string().openapi({ example: EXAMPLE_ID }),
  state: z.enum(["running", "done", "cancelled"]),
  total: count,
  done: count,
  skipped: count.openapi({ description: "Had changed before their turn came." }),
  createdAt: time,
  finishedAt: time.optional(),
  filter: z.object({
    endpoint: z.string().optional(),
    state: z.enum(["dead", "delivered"]),
    reason: deadReason.optional(),
    since: time.optional(),
    until: time.optional(),
  }),
}).openapi("ReplayJob");

export const jobPageSchema = z.object({ items: z.array(jobSchema), cursor })
  .openapi("ReplayJobPage");

export const replaySurveySchema = z.object({
  dryRun: z.literal(true),
  count,
  atLeast: z.boolean().openapi({ description: "There may be more: counting ended early." }),
  oldest: time.optional(),
  newest: time.optional(),
  alreadyDelivered: count.openapi({ description: "Of these, the target took one before." }),
}).openapi("ReplaySurvey");
