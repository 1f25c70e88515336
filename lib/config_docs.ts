import { z } from "./zod.ts";
import { type Config, parseConfig } from "./config.ts";
import { type Endpoint, endpointSchema, toEndpoint } from "./endpoint.ts";
import { githubVariables } from "./github_settings.ts";
import { oauthVariables } from "./oauth_settings.ts";
import { relayVariables } from "./relay_settings.ts";
import { RETRY_POLICIES, type RetryPolicy } from "./retry_policy.ts";

/**
 * Makes `docs/configuration.md` of the schemas that check the configuration: names, forms
 * and defaults are read from them, so that the page cannot disagree with the program. The
 * meanings are typed by the fields, so that a new field without one does not compile.
 */

type Field = keyof typeof endpointSchema.shape;

/** What each field of an endpoint does. Values that depend on others are named here. */
const FIELDS: Record<Field, string> = {
  id: "names the endpoint: senders post to `/hook/<id>`",
  targetUrl: "where deliveries go: http or https, without credentials",
  provider: "a known sender ([senders](senders.md)): its signature, event id, handshake, answer",
  secret: "what the sender signs with; a list during a rotation, any match passes",
  signatureHeader: "header of the signature, for a sender without a preset",
  signatureScheme: "its signature, by name or by parts ([senders](senders.md))",
  timestampTolerance: "how far a signed time may be off; default: the sender's own",
  idHeaders: "headers that may hold the event's id, the first one that is not empty counts; " +
    "default: the preset's, else `idempotency-key`, `webhook-id`, `x-request-id`, `x-event-id`",
  idPath: "where the id stands in a JSON body, such as `event.id`; default: the preset's",
  dedupWindow: "how long a repeat is recognised; default: `30d`, `15m` where the id is a hash",
  dedup: "`auto`: by the id, else by a hash of the request; `id`: by the id only; `off`",
  methods: "others are answered 405",
  acceptStatus: "status for “accepted”; default: the preset's, else 202",
  acceptBody: "body of that answer; default: the preset's, else `json`",
  maxBodyBytes: "larger bodies are answered 413",
  verifyToken: "what a handshake compares (Meta, WhatsApp, SNS topic)",
  github: "recovery from GitHub's history ([GitHub recovery](github-recovery.md))",
  headers: "set on every outgoing request, in place of the sender's of that name",
  forwardPath: "what follows `/hook/<id>` is appended to the target's path",
  forwardQuery: "the query is appended as it came",
  ordered: "one after the other ([ordering](ordering.md)); `concurrency` is then 1",
  retry: "a policy's name, a ladder or a back-off, see below",
  retryStatuses: "statuses that are tried again although they would end a delivery",
  timeout: "for a whole attempt up to the answer's head; `120s` at most",
  concurrency: "attempts at once; default: 50",
  rateLimit: "attempts a second; may be less than 1",
  breaker: "when the target is left alone ([outages](retries-and-outages.md)); `false`: never",
  disableAfter: "nothing but failures for so long: the endpoint is disabled, deliveries wait",
  signingSecret: "adds `holdfast-signature`, made anew at each attempt ([security](security.md))",
  restamp: "signs anew in the sender's format at each attempt ([senders](senders.md))",
  showPayload: "operators may read bodies, header values and query values",
  retention: "how long delivered ones stay",
  deadRetention: "how long dead ones stay; default: for ever",
};

/** Settings of the environment without a schema that can be read here, with their values. */
const GENERAL: readonly [
  name: string,
  form: string,
  value: (c: Config) => unknown,
  text: string,
][] = [
  ["ENDPOINTS", "JSON list", () => undefined, "the endpoints; wins over the file"],
  ["ENDPOINTS_FILE", "path", () => "endpoints.json", "file with the same list"],
  ["PORT", "0 to 65535", ({ port }) => port, "where to listen; 0 takes a free one"],
  ["HOST", "address", ({ host }) => host, "address to listen on; `127.0.0.1` in `dev`"],
  [
    "KV_PATH",
    "path or URL",
    () => ".data/holdfast.db",
    "the store: a file, or a KV Connect server's URL (with `DENO_KV_ACCESS_TOKEN`); on Deno " +
    "Deploy leave it out",
  ],
  [
    "PUBLIC_URL",
    "origin",
    ({ publicUrl }) => publicUrl,
    "the address that senders and browsers use, without a path: set it behind a proxy",
  ],
  [
    "ADMIN_TOKEN",
    "text",
    ({ adminToken }) => adminToken,
    "opens the operator's surface; without it and OAuth that answers 503",
  ],
  [
    "ALLOW_PRIVATE_TARGETS",
    "`0`, `1` or CIDRs",
    ({ privateTargets }) => Number(privateTargets),
    "private addresses that targets may have: all, or those in a comma-separated list",
  ],
  [
    "SCHEDULER",
    "`auto`, `queue`, `sweep`",
    ({ scheduler }) => scheduler,
    "whether KV queue messages wake the relay: found out, expected, or never used",
  ],
  [
    "CRON_MINUTES",
    "1 to 30",
    ({ cronMinutes }) => cronMinutes,
    "minutes between two wake-ups where a platform puts processes to sleep " +
    "([deploying](deploying.md#what-it-costs))",
  ],
  [
    "LEASE",
    "duration",
    ({ leaseMs }) => shownDuration(leaseMs),
    "after so long a delivery of a dead process is taken over; at least `1s`",
  ],
  [
    "LOG_LEVEL",
    "`debug`, `info`, `warn`, `error`",
    ({ logLevel }) => logLevel,
    "what is logged ([observability](observability.md))",
  ],
];

const VARIABLES: Record<
  keyof typeof githubVariables | keyof typeof oauthVariables | keyof typeof relayVariables,
  string
> = {
  GITHUB_APP_ID: "id of the GitHub App whose hook is watched",
  GITHUB_APP_PRIVATE_KEY: "its key, PEM; `\\n` stands for a line break",
  GITHUB_API_URL: "another GitHub server",
  GITHUB_WATCHDOG_GRACE: "younger rows of GitHub's history are left alone",
  GITHUB_WATCHDOG_INTERVAL: "time between two looks; below `10s` counts as `10s`",
  OAUTH_PROVIDER: "who signs operators in: `github`, `google` or `oidc`",
  OAUTH_ISSUER: "of `oidc`: the issuer, https; of `github`: another GitHub server",
  OAUTH_CLIENT_ID: "from the provider",
  OAUTH_CLIENT_SECRET: "from the provider",
  ADMIN_USERS: "who may sign in, separated by commas: logins (GitHub), verified addresses, `id:…`",
  RELAY_TARGETS: "turns [relay mode](relay-mode.md) on: URL patterns, separated by commas",
  RELAY_GATE: "`github`: only requests with the marks of GitHub's deliveries",
  RELAY_TOKEN: "what callers must show, as `?token=` or as a bearer",
  RELAY_PROVIDER: "a known sender ([senders](senders.md)), as `provider` of an endpoint",
  RELAY_SECRET: "what that sender signs with",
};

/** The whole page. */
export function configurationPage(): string {
  return `${HEAD}
${table(["field", "form", "default", "meaning"], endpointRows())}

${RETRY}
${table(["policy", "waits", "attempts", "ends after", "jitter"], policyRows())}

${BREAKER}
${table(["variable", "form", "default", "meaning"], [...generalRows(), ...variableRows()])}

${CLOSING}`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(heads), `|${"---|".repeat(heads.length)}`, ...rows.map(line)].join("\n");
}

interface JsonSchema {
  /** Several only where the value is a duration. */
  type?: string | string[];
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
}

/** Forms that are too rich for a cell. */
const SHOWN_BELOW: Partial<Record<Field, string>> = {
  retry: "see below",
  breaker: "see below",
  signatureScheme: "name or object",
  github: "object",
  headers: "object",
};

const EXAMPLE = { id: "id", targetUrl: "https://app.example.com" } as const;

function endpointRows(): string[][] {
  const schema = z.toJSONSchema(endpointSchema, { io: "input", unrepresentable: "any" });
  const forms = schema.properties as Record<Field, JsonSchema>;
  const defaults = toEndpoint(endpointSchema.parse(EXAMPLE));
  return (Object.keys(FIELDS) as Field[]).map((field) => [
    `\`${field}\``,
    SHOWN_BELOW[field] ?? formOf(forms[field]),
    field in EXAMPLE ? "required" : defaultOf(field, defaults),
    FIELDS[field],
  ]);
}

function formOf(schema: JsonSchema): string {
  const { anyOf, items, minimum, maximum } = schema;
  if (schema.enum !== undefined) return schema.enum.map((one) => `\`${one}\``).join(", ");
  if (items !== undefined) return `list of ${formOf(items)}`;
  if (anyOf !== undefined) return anyOf.map(formOf).join(" or ");
  if (Array.isArray(schema.type)) return "duration";
  const bounded = minimum !== undefined && maximum !== undefined;
  if (schema.type === "integer" && bounded) return `${minimum} to ${maximum}`;
  return schema.type === "string" ? "text" : schema.type ?? "text";
}

function defaultOf(field: Field, defaults: Endpoint): string {
  if (field === "concurrency") return "–";
  if (field === "retry") return '`"standard"`';
  const key = (field in defaults ? field : `${field}Ms`) as keyof Endpoint;
  const value = field === "breaker" ? breakerText(defaults) : defaults[key];
  if (value === undefined) return "–";
  return shown(key.endsWith("Ms") ? shownDuration(value as number) : value);
}

function breakerText({ breaker }: Endpoint): unknown {
  if (breaker === false) return false;
  const { failures, openMs, capMs } = breaker;
  return { failures, open: shownDuration(openMs), cap: shownDuration(capMs) };
}

const shown = (value: unknown) =>
  `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;

const UNITS: readonly [ms: number, unit: string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
];

function shownDuration(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms >= size && ms % size === 0) ?? [1, "ms"];
  return `${ms / size}${unit}`;
}

function policyRows(): string[][] {
  return Object.entries(RETRY_POLICIES).map(([name, policy]) => [
    `\`${name}\``,
    waits(policy),
    String(policy.delaysMs.length + 1),
    policy.maxAgeMs === undefined ? "the last attempt" : shownDuration(policy.maxAgeMs),
    policy.jitter === 0 ? "none" : `up to ${policy.jitter * 100} %, added`,
  ]);
}

/** Waits in whole seconds or minutes, a run of equal ones at the end told once. */
function waits({ delaysMs }: RetryPolicy): string {
  const texts = delaysMs.map(waitText);
  const runAt = texts.findIndex((text, at) => texts.slice(at).every((later) => later === text));
  const rest = texts.length - runAt;
  return rest < 3
    ? texts.join(", ")
    : `${texts.slice(0, runAt).join(", ")}, then ${rest} times ${texts[runAt]}`;
}

function waitText(ms: number): string {
  if (ms < 300_000) return shownDuration(ms);
  return ms < 3_600_000 || ms % 3_600_000 === 0
    ? shownDuration(Math.round(ms / 60_000) * 60_000)
    : `${(ms / 3_600_000).toFixed(1)}h`;
}

function generalRows(): string[][] {
  const config = parseConfig({ env: {}, providers: new Set(), defaultHost: "0.0.0.0" });
  if ("faults" in config) throw new Error(config.faults.join("; "));
  return GENERAL.map(([name, form, valueOf, text]) => {
    const value = valueOf(config);
    return [`\`${name}\``, form, value === undefined ? "–" : shown(value), text];
  });
}

function variableRows(): string[][] {
  const schemas: Record<string, z.ZodType> = {
    ...githubVariables,
    ...oauthVariables,
    ...relayVariables,
  };
  return Object.entries(VARIABLES).map(([name, text]) => {
    const value = schemas[name].safeParse(undefined).data;
    return [
      `\`${name}\``,
      typeof value === "number" ? "duration" : "text",
      value === undefined ? "–" : shown(typeof value === "number" ? shownDuration(value) : value),
      text,
    ];
  });
}

const HEAD = `<!-- made by lib/config_docs.ts; change the text there -->
# What can be configured, and how?

Endpoints are a JSON list, in the variable \`ENDPOINTS\` or in the file \`ENDPOINTS_FILE\`
(\`endpoints.json\` in the working directory where it exists). Everything else is a variable of the
environment. A restart reads all of it anew.

\`\`\`json
[
  {
    "id": "billing",
    "provider": "stripe",
    "secret": ["$env:STRIPE_SECRET", "$env:STRIPE_SECRET_OLD"],
    "restamp": true,
    "targetUrl": "https://app.example.com/webhooks/stripe",
    "retry": { "schedule": ["10s", "1m", "10m", "1h"] },
    "ordered": true
  }
]
\`\`\`

- A mistake stops the start with a line for each fault that names the endpoint and the field, never a
  secret's value. An unknown field of an endpoint is a mistake, too.
- Of unknown variables only those that look like ours (\`GITHUB_…\`, \`HOLDFAST_…\`, \`OAUTH_…\`,
  \`RELAY_…\`) are noticed, with a warning.
- \`"$env:NAME"\` in place of any text is replaced by that variable. A line break at its end is
  dropped, with a warning.
- A **duration** is a number of milliseconds or text: \`250ms\`, \`10s\`, \`5m\`, \`6h\`, \`3d\`; at most
  \`36500d\`.

## Endpoints
`;

const RETRY = `## Retry policies

\`"retry"\` is a name, a ladder of waits (one attempt more than waits), or a back-off:

\`\`\`json
"retry": "patient"
"retry": { "schedule": ["1m", "5m"], "maxAge": "1h", "jitter": 0.1 }
"retry": { "first": "5s", "factor": 2, "cap": "6h", "attempts": 20, "maxAge": "3d", "jitter": 0.1 }
\`\`\`

Of a back-off only \`first\` is required; without the others it is \`factor\` 2, \`cap\` \`6h\`,
\`attempts\` 20, \`jitter\` 0.1 and no \`maxAge\`. Of a ladder \`jitter\` is 0 if left out. Jitter is the share of
a wait that chance may add. \`maxAge\` counts from the first attempt and is looked at only
after a failed one.
`;

const BREAKER = `## Breaker

\`{ "failures": 3, "open": "30s", "cap": "300s" }\`: so many failures in a row open it for \`open\`,
doubling with each failed probe to \`cap\`. What counts as a failure, and what happens meanwhile:
[retries and outages](retries-and-outages.md).

## Environment
`;

const CLOSING =
  `\`DENO_KV_ACCESS_TOKEN\` (for KV Connect) and \`OTEL_…\` ([traces](observability.md)) are the
runtime's own.
`;

/** Run with write permission to bring the page up to date. */
if (import.meta.main) {
  Deno.writeTextFileSync(new URL("../docs/configuration.md", import.meta.url), configurationPage());
}
