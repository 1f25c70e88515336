import { z } from "./zod.ts";
import { parseDurationMs } from "./durations.ts";
import { knownName } from "./known_name.ts";

/** When to try again, as data: the waits between attempts, longest age, added jitter. */
export interface RetryPolicy {
  /** Wait after the first, second, … failed attempt. Its length + 1 is the attempt limit. */
  delaysMs: readonly number[];
  /** No retry later than this after the round's first attempt. */
  maxAgeMs?: number;
  /** Adds up to this share of a wait, never takes away. */
  jitter: number;
}

interface Backoff {
  firstMs: number;
  factor: number;
  capMs: number;
  attempts: number;
  maxAgeMs?: number;
  jitter: number;
}

const S = 1_000, M = 60 * S, H = 60 * M, D = 24 * H;

/** Expands a back-off into its ladder; `capMs` bounds a wait before jitter is added. */
export function ladder(backoff: Backoff): RetryPolicy {
  const { firstMs, factor, capMs, attempts, maxAgeMs, jitter } = backoff;
  const delaysMs = Array.from(
    { length: attempts - 1 },
    // The growth is bounded, too: it may leave what a number holds, and nothing times that is NaN.
    (_, i) => Math.min(capMs, Math.round(firstMs * Math.min(capMs, factor ** i))),
  );
  return { delaysMs, maxAgeMs, jitter };
}

/** The policies that have a name. */
export const RETRY_POLICIES: Readonly<Record<string, RetryPolicy>> = {
  standard: ladder({
    firstMs: 5 * S,
    factor: 2,
    capMs: 6 * H,
    attempts: 20,
    maxAgeMs: 3 * D,
    jitter: 0.1,
  }),
  "cold-start": { delaysMs: [1 * S, 5 * S, 15 * S, 30 * S, 30 * S], jitter: 0 },
  patient: { delaysMs: [1 * M, 5 * M, 15 * M, 1 * H, 6 * H], jitter: 0 },
  marathon: ladder({
    firstMs: 30 * S,
    factor: 2,
    capMs: 6 * H,
    attempts: 10,
    maxAgeMs: 3 * D,
    jitter: 0.1,
  }),
};

/** A zod type for durations; its output is milliseconds. */
export const duration = z.union([z.number(), z.string()]).transform((value, context) => {
  const ms = parseDurationMs(value);
  if (ms !== undefined) return ms;
  context.addIssue({
    code: "custom",
    message: "is not a duration up to 36500d (milliseconds, or a number with ms, s, m, h or d)",
  });
  return z.NEVER;
});

const jitter = z.number().min(0).max(1);

const scheduleSchema = z.strictObject({
  schedule: z.array(duration).max(1_000),
  maxAge: duration.optional(),
  jitter: jitter.optional(),
}).transform(({ schedule, maxAge, jitter }): RetryPolicy => ({
  delaysMs: schedule,
  maxAgeMs: maxAge,
  jitter: jitter ?? 0,
}));

const backoffSchema = z.strictObject({
  first: duration,
  factor: z.number().min(1).max(100).default(2),
  cap: duration.default(6 * H),
  attempts: z.int().min(1).max(1_000).default(20),
  maxAge: duration.optional(),
  jitter: jitter.default(0.1),
}).transform((b): RetryPolicy =>
  ladder({
    firstMs: b.first,
    factor: b.factor,
    capMs: b.cap,
    attempts: b.attempts,
    maxAgeMs: b.maxAge,
    jitter: b.jitter,
  })
);

const nameSchema = knownName(RETRY_POLICIES, "retry policy");

/** `"standard"`, `{ "schedule": […] }` or `{ "first", "factor", … }`. */
export const retrySchema = z.unknown().transform((value, context): RetryPolicy => {
  const schema = typeof value === "string"
    ? nameSchema
    : value !== null && typeof value === "object" && "schedule" in value
    ? scheduleSchema
    : backoffSchema;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) context.addIssue({ ...issue });
  return z.NEVER;
});
