import { z } from "./zod.ts";
import { duration, RETRY_POLICIES, type RetryPolicy, retrySchema } from "./retry_policy.ts";
import { type CustomScheme, customSignatureSchema } from "./signature_scheme.ts";

const S = 1_000, M = 60 * S, D = 24 * 60 * M;

/** Largest configurable attempt time; a lease is renewed while it runs. */
const MAX_TIMEOUT_MS = 120 * S;

/** RFC 9110 §5.6.2 token, the form of header names and methods. */
const token = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "is not an HTTP token");

/** Field values go out as Latin-1; line breaks would end the header. */
const fieldValue = z.string().refine(
  (text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text),
  "has characters that a header value cannot hold",
);

const secretText = z.string().refine((text) => text.trim() !== "", "is empty");

const targetUrl = z.string().superRefine((text, context) => {
  const fault = targetFault(text);
  if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
});

function targetFault(text: string): string | undefined {
  if (!URL.canParse(text)) return "is not a URL";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "is not an http or https URL";
  if (url.username !== "" || url.password !== "") return "has credentials in it";
  return undefined;
}

const breakerSchema = z.strictObject({
  failures: z.int().min(1).max(1_000).default(3),
  open: duration.default(30 * S),
  cap: duration.default(300 * S),
}).refine((b) => b.cap >= b.open, { message: "is below open", path: ["cap"] });

const githubSchema = z.union([
  z.strictObject({ app: z.literal(true), events: z.array(z.string()).optional() }),
  z.strictObject({
    repo: z.string().regex(/^[^/\s]+\/[^/\s]+$/, "is not owner/name").optional(),
    org: z.string().regex(/^[^/\s]+$/, "is not an organisation's login").optional(),
    hookId: z.union([z.int().positive(), z.string().regex(/^\d+$/)]),
    token: secretText,
    events: z.array(z.string()).optional(),
  }).refine((g) => (g.repo === undefined) !== (g.org === undefined), "needs one of repo and org"),
]);

/** One endpoint as it is written in the configuration. Unknown fields are faults. */
export const endpointSchema = z.strictObject({
  id: z.string().regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/,
    "is not a name of 1 to 63 letters, digits, - and _",
  ),
  targetUrl,
  provider: z.string().min(1).optional(),
  secret: z.union([secretText, z.array(secretText).min(1)]).optional(),
  signatureHeader: token.optional(),
  signatureScheme: customSignatureSchema.optional(),
  timestampTolerance: duration.optional(),
  idHeaders: z.array(token).optional(),
  idPath: z.string().min(1).optional(),
  dedupWindow: duration.optional(),
  dedup: z.enum(["auto", "id", "off"]).default("auto"),
  methods: z.array(token.transform((m) => m.toUpperCase())).min(1).default([
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
  ]),
  acceptStatus: z.int().min(200).max(299).optional(),
  acceptBody: z.enum(["json", "empty"]).optional(),
  maxBodyBytes: z.int().min(0).max(1_073_741_824).default(26_214_400),
  verifyToken: secretText.optional(),
  github: githubSchema.optional(),
  headers: z.record(token, fieldValue, {
    error: ({ code }) => code === "invalid_key" ? "is not the name of a header" : undefined,
  }).default({}),
  forwardPath: z.boolean().default(true),
  forwardQuery: z.boolean().default(true),
  ordered: z.boolean().default(false),
  retry: retrySchema.default(RETRY_POLICIES.standard),
  retryStatuses: z.array(z.int().min(100).max(999)).default([]),
  timeout: duration.refine((ms) => ms > 0 && ms <= MAX_TIMEOUT_MS, "is not between 1ms and 120s")
    .default(10 * S),
  concurrency: z.int().min(1).max(1_000).optional(),
  rateLimit: z.number().positive().max(100_000).optional(),
  breaker: z.union([
    z.literal(false, "is neither false nor an object of failures, open and cap"),
    breakerSchema,
  ]).default({
    failures: 3,
    open: 30 * S,
    cap: 300 * S,
  }),
  disableAfter: duration.default(5 * D),
  signingSecret: secretText.optional(),
  restamp: z.boolean().default(false),
  showPayload: z.boolean().default(false),
  retention: duration.default(30 * D),
  deadRetention: duration.optional(),
});

type Written = z.output<typeof endpointSchema>;

/** How a lane's breaker is set; `false` where it is turned off. */
export type BreakerSettings = { failures: number; openMs: number; capMs: number } | false;

/** One endpoint, ready for use: durations in milliseconds, defaults filled in. */
export interface Endpoint {
  id: string;
  targetUrl: string;
  provider?: string;
  /** Empty where nothing is verified; several during a rotation. */
  secrets: readonly string[];
  signatureHeader?: string;
  /** The signature of a sender that has no preset. */
  signatureScheme?: CustomScheme;
  /** Replaces the preset's or scheme's own tolerance for signed timestamps. */
  timestampToleranceMs?: number;
  idHeaders?: readonly string[];
  idPath?: string;
  dedupWindowMs?: number;
  dedup: "auto" | "id" | "off";
  methods: readonly string[];
  acceptStatus?: number;
  acceptBody?: "json" | "empty";
  maxBodyBytes: number;
  verifyToken?: string;
  github?: z.output<typeof githubSchema>;
  headers: Readonly<Record<string, string>>;
  forwardPath: boolean;
  forwardQuery: boolean;
  ordered: boolean;
  retry: RetryPolicy;
  retryStatuses: readonly number[];
  timeoutMs: number;
  concurrency: number;
  rateLimit?: number;
  breaker: BreakerSettings;
  disableAfterMs: number;
  signingSecret?: string;
  restamp: boolean;
  showPayload: boolean;
  retentionMs: number;
  deadRetentionMs?: number;
}

const UNORDERED_CONCURRENCY = 50;

/** Turns a checked configuration entry into an endpoint. */
export function toEndpoint(written: Written): Endpoint {
  const { secret, dedupWindow, timeout, breaker, disableAfter, retention, deadRetention, ...rest } =
    written;
  const { timestampTolerance, ...same } = rest;
  return {
    ...same,
    secrets: secret === undefined ? [] : [secret].flat(),
    timestampToleranceMs: timestampTolerance,
    dedupWindowMs: dedupWindow,
    timeoutMs: timeout,
    // Strict order allows one attempt at a time, whatever is configured.
    concurrency: written.ordered ? 1 : written.concurrency ?? UNORDERED_CONCURRENCY,
    breaker: breaker && { failures: breaker.failures, openMs: breaker.open, capMs: breaker.cap },
    disableAfterMs: disableAfter,
    retentionMs: retention,
    deadRetentionMs: deadRetention,
  };
}
