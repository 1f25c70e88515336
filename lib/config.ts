import { z } from "./zod.ts";
import { type Endpoint, endpointSchema, toEndpoint } from "./endpoint.ts";
import { parseDurationMs } from "./durations.ts";
import {
  githubFaults,
  type GithubSettings,
  githubVariables,
  githubWarnings,
  toGithubSettings,
} from "./github_settings.ts";
import { isRelayLane } from "./ids.ts";
import {
  oauthFaults,
  type OauthSettings,
  oauthVariables,
  oauthWarnings,
  toOauthSettings,
} from "./oauth_settings.ts";
import {
  relayFaults,
  type RelaySettings,
  relayVariables,
  relayWarnings,
  toRelaySettings,
} from "./relay_settings.ts";

/** A fault of the configuration: what to say to the person who wrote it. */
export interface ConfigFault {
  faults: string[];
}

export interface Config {
  port: number;
  host: string;
  kvPath?: string;
  publicUrl?: string;
  adminToken?: string;
  /** `true` allows all private targets, a list allows the CIDR blocks in it. */
  privateTargets: boolean | readonly string[];
  scheduler: "auto" | "queue" | "sweep";
  cronMinutes: number;
  leaseMs: number;
  logLevel: "debug" | "info" | "warn" | "error";
  github: GithubSettings;
  oauth?: OauthSettings;
  relay?: RelaySettings;
  endpoints: ReadonlyMap<string, Endpoint>;
  warnings: readonly string[];
}

export type Env = Readonly<Record<string, string | undefined>>;

interface Sources {
  env: Env;
  /** Text of the endpoints file, where `ENDPOINTS` is not set and the file exists. */
  endpointsFile?: { path: string; text: string };
  /** Names that `provider` may have. */
  providers: ReadonlySet<string>;
  /** Host to listen on where `HOST` is not set. */
  defaultHost: string;
}

const text = (env: Env, name: string) => {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
};

const webOrigin = z.string().refine((value) => {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  return /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "" &&
    url.username + url.password === "";
}, "is not an http(s) origin without a path");

const cidr = z.union(
  [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
  "is not 1 or a list of addresses and CIDR blocks",
);

const lease = z.string().transform((value, context) => {
  const ms = parseDurationMs(value);
  if (ms !== undefined && ms >= 1_000) return ms;
  context.addIssue({ code: "custom", message: "is not a duration of at least 1s" });
  return z.NEVER;
});

/** Minutes between two passes of cron; up to half an hour, so that they come evenly. */
export const cronMinutes = z.string().regex(/^\d{1,2}$/, "is not 1 to 30").transform(Number)
  .refine((minutes) => minutes >= 1 && minutes <= 30, "is not 1 to 30").default(1);

const settingsSchema = z.object({
  PORT: z.string().regex(/^\d{1,5}$/, "is not a port").transform(Number).refine(
    (n) => n < 65_536,
    "is not a port",
  )
    .default(8_000),
  HOST: z.string().optional(),
  KV_PATH: z.string().optional(),
  PUBLIC_URL: webOrigin.optional(),
  ADMIN_TOKEN: z.string().optional(),
  ALLOW_PRIVATE_TARGETS: z.string().default("0").transform((value) => {
    if (value === "0" || value === "1") return value === "1";
    return value.split(",").map((part) => part.trim());
  }).pipe(z.union([z.boolean(), z.array(cidr).min(1)])),
  SCHEDULER: z.enum(["auto", "queue", "sweep"]).default("auto"),
  CRON_MINUTES: cronMinutes,
  LEASE: lease.default(60_000),
  LOG_LEVEL: z.enum(["debug", "info", "warn", "error"]).default("info"),
  ...githubVariables,
  ...oauthVariables,
  ...relayVariables,
});

/** Names of the environment that are read elsewhere or belong to later parts. */
const OTHER_SETTINGS = new Set(["ENDPOINTS", "ENDPOINTS_FILE"]);
const OWN_PREFIXES = ["RELAY_", "GITHUB_", "OAUTH_", "HOLDFAST_"];
const OWN_PREFIXED = new Set([
  ...Object.keys(relayVariables),
  ...Object.keys(githubVariables),
  ...Object.keys(oauthVariables),
  ...["HOLDFAST_URL"],
]);

/**
 * Reads and checks all settings. Returns every fault at once, each naming the endpoint
 * and the field (or the variable) but never a value that may be secret.
 */
export function parseConfig(sources: Sources): Config | ConfigFault {
  const { env } = sources;
  const warnings = unknownSettings(env);
  const given = Object.fromEntries(
    Object.keys(settingsSchema.shape).map((name) => [name, text(env, name)]),
  );
  const settings = settingsSchema.safeParse(given);
  const faults = settings.success
    ? []
    : settings.error.issues.map((issue) =>
      `cannot start: ${String(issue.path[0])} ${plain(issue.message)}`
    );
  const endpoints = parseEndpoints(sources, faults, warnings);
  if (settings.success) {
    faults.push(...githubFaults(settings.data, endpoints.values()));
    warnings.push(...githubWarnings(settings.data, endpoints.values()));
    faults.push(...oauthFaults(settings.data, settings.data.PUBLIC_URL));
    warnings.push(...oauthWarnings(settings.data));
    faults.push(...relayFaults(settings.data, sources.providers, env));
    warnings.push(...relayWarnings(settings.data));
  }
  if (!settings.success || faults.length > 0) return { faults };
  const s = settings.data;
  return {
    port: s.PORT,
    host: s.HOST ?? sources.defaultHost,
    kvPath: s.KV_PATH,
    publicUrl: s.PUBLIC_URL && new URL(s.PUBLIC_URL).origin,
    adminToken: s.ADMIN_TOKEN,
    privateTargets: s.ALLOW_PRIVATE_TARGETS,
    scheduler: s.SCHEDULER,
    cronMinutes: s.CRON_MINUTES,
    leaseMs: s.LEASE,
    logLevel: s.LOG_LEVEL,
    github: toGithubSettings(s),
    oauth: toOauthSettings(s, s.PUBLIC_URL, s.GITHUB_API_URL),
    relay: toRelaySettings(s),
    endpoints,
    warnings,
  };
}

function unknownSettings(env: Env): string[] {
  return Object.keys(env)
    .filter((name) => OWN_PREFIXES.some((prefix) => name.startsWith(prefix)))
    .filter((name) =>
      !OWN_PREFIXED.has(name) && !OTHER_SETTINGS.has(name) && !GITHUB_RUNNER.test(name)
    )
    .map((name) => `unknown setting ${name} is ignored`);
}

/** Variables that GitHub's own runners set beside ours (docs.github.com, default variables). */
const GITHUB_RUNNER =
  /^GITHUB_(ACTION|ACTIONS|ACTOR|API_URL|BASE_REF|ENV|EVENT|GRAPHQL|HEAD_REF|JOB|OUTPUT|PATH|REF|REPOSITORY|RETENTION|RUN|SERVER|SHA|STATE|STEP|TOKEN|TRIGGERING|WORKFLOW|WORKSPACE)/;

function parseEndpoints(
  sources: Sources,
  faults: string[],
  warnings: string[],
): Map<string, Endpoint> {
  const found = new Map<string, Endpoint>();
  const source = text(sources.env, "ENDPOINTS");
  const from = source === undefined ? sources.endpointsFile?.path : "ENDPOINTS";
  const json = source ?? sources.endpointsFile?.text;
  if (json === undefined || from === undefined) return found;
  const entries = parseJsonArray(json);
  if (typeof entries === "string") {
    faults.push(`cannot read endpoints: ${from} ${entries}`);
    return found;
  }
  entries.forEach((entry, index) => {
    const name = entryName(entry, index);
    const problems: string[] = [];
    const resolved = resolveEnv(entry, sources.env, [], problems, warnings, name);
    const checked = endpointSchema.safeParse(resolved);
    if (!checked.success) problems.push(...checked.error.issues.flatMap(issueText));
    else addEndpoint(found, toEndpoint(checked.data), sources.providers, problems);
    faults.push(...problems.map((line) => `cannot use endpoint ${name}: ${line}`));
  });
  return found;
}

function addEndpoint(
  found: Map<string, Endpoint>,
  endpoint: Endpoint,
  providers: ReadonlySet<string>,
  problems: string[],
): void {
  if (found.has(endpoint.id)) problems.push("id is used twice");
  if (isRelayLane(endpoint.id)) problems.push("id is of the form that relay mode's lanes have");
  if (endpoint.provider !== undefined && !providers.has(endpoint.provider)) {
    problems.push("provider is not a known sender (docs/senders.md lists them)");
  }
  found.set(endpoint.id, endpoint);
}

/** Reads a JSON list. A text is what is wrong with it, and where, but no piece of it. */
function parseJsonArray(json: string): unknown[] | string {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value : "is JSON, but not a list of endpoints";
  } catch (error) {
    // The engine's own sentence quotes what stands there, which may be a secret.
    const [, place] = /\((line \d+ column \d+)\)$/.exec((error as Error).message) ?? [];
    return place === undefined ? "is not valid JSON" : `is not valid JSON, ${place}`;
  }
}

function entryName(entry: unknown, index: number): string {
  const id = (entry as { id?: unknown } | null)?.id;
  return typeof id === "string" && /^[\w-]{1,63}$/.test(id) ? `"${id}"` : `number ${index + 1}`;
}

function issueText(issue: z.core.$ZodIssue): string[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${[...issue.path, key].join(".")} is not a known field`);
  }
  if (issue.code === "invalid_union") {
    const [closest = []] = issue.errors.toSorted((a, b) =>
      depth(b) - depth(a) || strangers(a) - strangers(b)
    );
    return closest.flatMap((inner) =>
      issueText({ ...inner, path: [...issue.path, ...inner.path] })
    );
  }
  const field = issue.path.map(String).join(".");
  const missing = issue.code === "invalid_type" && issue.input === undefined &&
    issue.message.includes("undefined");
  return [`${field || "entry"} ${missing ? "is missing" : plain(issue.message)}`];
}

/** How far a form of a union fits: where its innermost fault lies. */
const depth = (issues: readonly z.core.$ZodIssue[]) =>
  Math.max(0, ...issues.map(({ code, path }) => path.length + (code === KEYS ? 1 : 0)));

/** How many fields a form of a union does not know. */
const strangers = (issues: readonly z.core.$ZodIssue[]) =>
  issues.reduce((sum, issue) => sum + (issue.code === KEYS ? issue.keys.length : 0), 0);

const KEYS = "unrecognized_keys";

/** Zod's own messages ("Invalid input: expected string, …") as the end of a sentence. */
function plain(message: string): string {
  if (/^(is|has|needs) /.test(message)) return message;
  const [, options] = /^Invalid option: expected one of (.*)$/.exec(message) ?? [];
  if (options !== undefined) {
    return `is not one of ${options.replaceAll('"', "").replaceAll("|", ", ")}`;
  }
  const [, kind, given] = /^Invalid input: expected (\S+), received (\S+)$/.exec(message) ?? [];
  if (kind !== undefined) {
    return `has to be of type ${kind === "record" ? "object" : kind}, not ${given}`;
  }
  const [, bound] =
    /^(?:Too (?:small|big): expected number to be|Invalid input: expected) (\S+)$/.exec(message) ??
      [];
  if (bound !== undefined) return `has to be ${bound}`;
  return `is wrong: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

/** No field lies deeper, so what does is left to the schema, which refuses it. */
const DEEPEST_FIELD = 16;

/**
 * Replaces every string `"$env:NAME"` by the variable's value. A trailing line break is
 * dropped with a warning: files that hold secrets end in one, and no sender signs it.
 */
function resolveEnv(
  value: unknown,
  env: Env,
  path: string[],
  problems: string[],
  warnings: string[],
  name: string,
): unknown {
  const inner = (item: unknown, key: string) =>
    resolveEnv(item, env, [...path, key], problems, warnings, name);
  if (path.length === DEEPEST_FIELD) return value;
  if (Array.isArray(value)) return value.map((item, index) => inner(item, String(index)));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item, key)]));
  }
  if (typeof value !== "string" || !value.startsWith("$env:")) return value;
  const variable = value.slice("$env:".length);
  // A name such as `toString` is no variable, though every object has it.
  const found = Object.hasOwn(env, variable) ? env[variable] : undefined;
  const field = path.join(".");
  if (found === undefined) {
    problems.push(`${field} names the variable ${variable}, which is not set`);
  }
  if (found !== undefined && /[\r\n]$/.test(found)) {
    warnings.push(
      `endpoint ${name}: the line break at the end of ${field} (variable ${variable}) is dropped`,
    );
  }
  return found?.replace(/[\r\n]+$/, "") ?? value;
}
