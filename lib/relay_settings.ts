import { z } from "./zod.ts";
import { type Endpoint, endpointSchema, toEndpoint } from "./endpoint.ts";

/** Targets that may be named in a request: a URL's parts, in their normal form. */
export interface TargetPattern {
  protocol: "http:" | "https:";
  /** Without the `*.` of a pattern that stands for one or more labels before it. */
  hostname: string;
  anySubdomain: boolean;
  /** Empty for the scheme's own port, as in a `URL`. */
  port: string;
  /** Ends with a slash where only what lies below it is meant. */
  path: string;
}

/** How relay mode is set; absent where it is off. */
export interface RelaySettings {
  targets: readonly TargetPattern[];
  /** Lets only requests in that have the marks of GitHub's deliveries. */
  gate?: "github";
  /** What callers must show, as `?token=` or as a bearer. */
  token?: string;
  /** What all targets have in common; each gets its own `id` and `targetUrl`. */
  endpoint: Endpoint;
}

const PATTERN_FORM = /^(https?):\/\/(\*\.)?([^/?#@*\s\\]+)(\/[^?#*\s\\]*)?(\*)?$/i;

/**
 * Reads one pattern: `https://app.example.com` (every path of that origin) or
 * `https://*.example.com/hooks/*`. Returns what is wrong with it as the end of a sentence.
 */
export function parseTargetPattern(text: string): TargetPattern | string {
  const [, scheme, wildcard, host, path = "/", star] = PATTERN_FORM.exec(text) ?? [];
  if (scheme === undefined) {
    return "is not scheme://host[:port][/path], with *. before the host or /* behind the path only";
  }
  if (star !== undefined && !path.endsWith("/")) return "has a * that is no whole path segment";
  const written = `${scheme}://${host}${path}`;
  if (!URL.canParse(written)) return "is not a URL";
  const { protocol, hostname, port, pathname } = new URL(written);
  if (hostname.endsWith(".")) return "has a dot behind its host";
  if (pathname !== path) return "has a path that is not in normal form";
  if (wildcard !== undefined && isAddress(hostname)) return "has a wildcard before an address";
  return {
    protocol: protocol as TargetPattern["protocol"],
    hostname,
    anySubdomain: wildcard !== undefined,
    port,
    path,
  };
}

const isAddress = (hostname: string) =>
  hostname.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);

const patterns = z.string().transform((text, context): TargetPattern[] => {
  const found = text.split(",").map((part) => part.trim()).filter((part) => part !== "")
    .map(parseTargetPattern);
  found.forEach((one, index) => {
    if (typeof one !== "string") return;
    context.addIssue({
      code: "custom",
      message: `has a pattern (number ${index + 1}) that ${one}`,
    });
  });
  return found.filter((one) => typeof one !== "string");
});

/** The `RELAY_*` variables. */
export const relayVariables = {
  RELAY_TARGETS: patterns.optional(),
  RELAY_GATE: z.enum(["github"], "is not github").optional(),
  RELAY_TOKEN: z.string().optional(),
  RELAY_PROVIDER: z.string().optional(),
  RELAY_SECRET: z.string().optional(),
};

type Variables = z.output<z.ZodObject<typeof relayVariables>>;

/** What keeps strangers out of relay mode. */
const GUARDS = ["RELAY_GATE", "RELAY_TOKEN", "RELAY_PROVIDER", "RELAY_SECRET"] as const;

/**
 * What is wrong with the settings of relay mode as a whole, as sentences; empty if nothing.
 * A guard that is set to nothing was meant: it must not leave the door open.
 */
export function relayFaults(
  variables: Variables,
  providers: ReadonlySet<string>,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const { RELAY_TARGETS: targets, RELAY_PROVIDER: provider, RELAY_SECRET: secret } = variables;
  const empty = GUARDS.filter((name) => env[name] !== undefined && variables[name] === undefined);
  const faults = targets === undefined
    ? []
    : empty.map((name) => `cannot start: ${name} is empty; unset it to do without it`);
  if (provider !== undefined && !providers.has(provider)) {
    faults.push("cannot start: RELAY_PROVIDER is not a known sender (docs/senders.md lists them)");
  }
  if (secret !== undefined && provider === undefined) {
    faults.push("cannot start: RELAY_SECRET is set without RELAY_PROVIDER");
  }
  return faults;
}

/** What works but is hardly meant. */
export function relayWarnings(variables: Variables): string[] {
  const { RELAY_TARGETS: targets, RELAY_TOKEN: token, RELAY_SECRET: secret } = variables;
  if (targets === undefined) {
    return Object.entries(variables)
      .filter(([name, value]) => name.startsWith("RELAY_") && value !== undefined)
      .map(([name]) => `${name} has no effect: RELAY_TARGETS is not set`);
  }
  return token === undefined && secret === undefined
    ? ["RELAY_TARGETS is open to everyone: neither RELAY_TOKEN nor RELAY_SECRET is set"]
    : [];
}

/** A request of any method is for the target; CONNECT and TRACE are for those in between. */
const METHODS = ["POST", "PUT", "PATCH", "DELETE", "GET", "HEAD", "OPTIONS"];

export function toRelaySettings(variables: Variables): RelaySettings | undefined {
  const { RELAY_TARGETS: targets, RELAY_GATE: gate, RELAY_TOKEN: token } = variables;
  if (targets === undefined) return undefined;
  const endpoint = toEndpoint(endpointSchema.parse({
    id: "relay",
    targetUrl: "https://relay.invalid/",
    provider: variables.RELAY_PROVIDER,
    // What GitHub's gate asks for also tells GitHub's events apart.
    idHeaders: gate === undefined || variables.RELAY_PROVIDER !== undefined
      ? undefined
      : ["x-github-delivery"],
    secret: variables.RELAY_SECRET,
    methods: METHODS,
    forwardPath: false,
    forwardQuery: false,
    ordered: true,
  }));
  return { targets, gate, token, endpoint };
}
