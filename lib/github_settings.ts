import { Buffer } from "node:buffer";
import { createPrivateKey } from "node:crypto";
import { z } from "./zod.ts";
import { parseDurationMs } from "./durations.ts";
import type { Endpoint } from "./endpoint.ts";

/** How GitHub is asked for its delivery history. */
export interface GithubSettings {
  /** The App whose hook is watched; its key is PKCS#8 in PEM form. */
  app?: { id: string; privateKey: string };
  apiUrl: string;
  /** Rows of the history younger than this are left alone. */
  graceMs: number;
  /** Time between two passes. */
  intervalMs: number;
}

const GITHUB_COM = "https://api.github.com";
/** More often than this would only spend GitHub's rate limit. */
export const MIN_INTERVAL_MS = 10_000;
/**
 * GitHub shows and repeats deliveries of the past 3 days (docs.github.com, "Redelivering
 * webhooks"), so what came must be remembered at least as long.
 */
export const HISTORY_MS = 3 * 86_400_000;

const apiUrl = z.string().refine((text) => {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === "";
}, "is not an http(s) URL").transform((text) => text.replace(/\/+$/, ""));

const duration = z.string().transform((text, context) => {
  const ms = parseDurationMs(text);
  if (ms !== undefined) return ms;
  context.addIssue({ code: "custom", message: "is not a duration" });
  return z.NEVER;
});

/** PEM of any kind that GitHub hands out, also with `\n` for its line breaks, as PKCS#8. */
const privateKey = z.string().transform((text, context) => {
  try {
    const key = createPrivateKey(Buffer.from(text.replaceAll("\\n", "\n")));
    if (key.asymmetricKeyType === "rsa") {
      return key.export({ type: "pkcs8", format: "pem" }).toString();
    }
  } catch {
    // Said below: the library's own message could quote the key.
  }
  context.addIssue({ code: "custom", message: "is not an RSA private key in PEM form" });
  return z.NEVER;
});

/** The `GITHUB_*` variables. */
export const githubVariables = {
  GITHUB_APP_ID: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, "is not an App's id").optional(),
  GITHUB_APP_PRIVATE_KEY: privateKey.optional(),
  GITHUB_API_URL: apiUrl.default(GITHUB_COM),
  GITHUB_WATCHDOG_GRACE: duration.default(120_000),
  GITHUB_WATCHDOG_INTERVAL: duration.default(300_000),
};

type Variables = z.output<z.ZodObject<typeof githubVariables>>;

export function toGithubSettings(variables: Variables): GithubSettings {
  const { GITHUB_APP_ID: id, GITHUB_APP_PRIVATE_KEY: key } = variables;
  return {
    app: id === undefined || key === undefined ? undefined : { id, privateKey: key },
    apiUrl: variables.GITHUB_API_URL,
    graceMs: variables.GITHUB_WATCHDOG_GRACE,
    intervalMs: Math.max(MIN_INTERVAL_MS, variables.GITHUB_WATCHDOG_INTERVAL),
  };
}

/** What is wrong with the settings of recovery as a whole, as sentences; empty if nothing. */
export function githubFaults(variables: Variables, endpoints: Iterable<Endpoint>): string[] {
  const { GITHUB_APP_ID: id, GITHUB_APP_PRIVATE_KEY: key } = variables;
  const watched = [...endpoints].filter(({ github }) => github !== undefined);
  const apps = watched.filter(({ github }) => github !== undefined && "app" in github);
  const faults = watched.flatMap(endpointFaults);
  if ((id === undefined) !== (key === undefined)) {
    const missing = id === undefined ? "GITHUB_APP_ID" : "GITHUB_APP_PRIVATE_KEY";
    faults.push(`cannot start: ${missing} is missing, an App needs its id and its key`);
  } else if (id === undefined && apps.length > 0) {
    faults.push(
      `cannot use endpoint "${
        apps[0].id
      }": github.app needs GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY`,
    );
  }
  for (const { id } of apps.slice(1)) {
    faults.push(`cannot use endpoint "${id}": github.app is used twice, but an App has one hook`);
  }
  return faults;
}

/** What works but is hardly meant. */
export function githubWarnings(variables: Variables, endpoints: Iterable<Endpoint>): string[] {
  const warnings: string[] = [];
  if (variables.GITHUB_WATCHDOG_INTERVAL < MIN_INTERVAL_MS) {
    warnings.push(`GITHUB_WATCHDOG_INTERVAL is below 10s; 10s is used`);
  }
  const used = [...endpoints].some(({ github }) => github !== undefined && "app" in github);
  if (variables.GITHUB_APP_ID !== undefined && !used) {
    warnings.push('GITHUB_APP_ID is set, but no endpoint has "github": {"app": true}');
  }
  return warnings;
}

/** Recovery knows deliveries by GitHub's GUID, so that has to be the event id and to last. */
function endpointFaults({ id, provider, idHeaders, dedup, dedupWindowMs }: Endpoint): string[] {
  const first = idHeaders?.[0]?.toLowerCase() ??
    (provider === "github" ? "x-github-delivery" : undefined);
  const faults: string[] = [];
  if (first !== "x-github-delivery") {
    faults.push('github needs "provider": "github", or x-github-delivery first in idHeaders');
  }
  if (dedup === "off") faults.push("github needs event ids, but dedup is off");
  if (dedupWindowMs !== undefined && dedupWindowMs < HISTORY_MS) {
    faults.push("github needs a dedupWindow of at least 3d, as long as GitHub's history");
  }
  return faults.map((fault) => `cannot use endpoint "${id}": ${fault}`);
}
