import { z } from "./zod.ts";

/** How operators sign in at an OAuth 2 or OpenID Connect provider. */
export interface OauthSettings {
  provider: "github" | "google" | "oidc";
  /** Of `github`: the server's web address; else the OpenID issuer. */
  issuer: string;
  /** Of `github`: where its API is. */
  apiUrl: string;
  clientId: string;
  clientSecret: string;
  /** Where the provider sends the browser back to. */
  redirectUrl: string;
  /** Who may enter. Never empty. */
  users: AllowedUsers;
}

/** The entries of `ADMIN_USERS`: logins and addresses in lower case, ids as they are. */
export interface AllowedUsers {
  logins: ReadonlySet<string>;
  emails: ReadonlySet<string>;
  ids: ReadonlySet<string>;
}

export const CALLBACK_PATH = "/admin/oauth/callback";

const ISSUERS = { github: "https://github.com", google: "https://accounts.google.com" } as const;

const issuer = z.string().refine((text) => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  return (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) &&
    username + password + search + hash === "";
}, "is not an https URL (http is for loopback addresses only)");

/** Whether a URL's host is this machine, where plain http leaks nothing. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** The `OAUTH_*` variables and `ADMIN_USERS`. */
export const oauthVariables = {
  OAUTH_PROVIDER: z.enum(["github", "google", "oidc"], {
    error: "is not one of github, google, oidc",
  }).optional(),
  OAUTH_ISSUER: issuer.optional(),
  OAUTH_CLIENT_ID: z.string().optional(),
  OAUTH_CLIENT_SECRET: z.string().optional(),
  ADMIN_USERS: z.string().optional(),
};

type Variables = z.output<z.ZodObject<typeof oauthVariables>>;

/** The settings of signing in, or `undefined` where there is no provider. */
export function toOauthSettings(
  variables: Variables,
  publicUrl: string | undefined,
  githubApiUrl: string,
): OauthSettings | undefined {
  const { OAUTH_PROVIDER: provider } = variables;
  if (provider === undefined || publicUrl === undefined) return undefined;
  return {
    provider,
    issuer: variables.OAUTH_ISSUER ?? (provider === "oidc" ? "" : ISSUERS[provider]),
    apiUrl: githubApiUrl,
    clientId: variables.OAUTH_CLIENT_ID ?? "",
    clientSecret: variables.OAUTH_CLIENT_SECRET ?? "",
    redirectUrl: new URL(CALLBACK_PATH, publicUrl).href,
    users: allowedUsers(variables.ADMIN_USERS),
  };
}

function allowedUsers(text = ""): AllowedUsers {
  const entries = text.split(",").map((entry) => entry.trim()).filter((entry) => entry !== "");
  const ids = entries.filter((entry) => /^id:/i.test(entry)).map((entry) => entry.slice(3));
  const names = entries.filter((entry) => !/^id:/i.test(entry)).map((name) => name.toLowerCase());
  return {
    ids: new Set(ids.filter((id) => id !== "")),
    emails: new Set(names.filter((name) => name.includes("@"))),
    logins: new Set(names.filter((name) => !name.includes("@"))),
  };
}

/** What is wrong with these settings as a whole, as sentences; empty if nothing. */
export function oauthFaults(variables: Variables, publicUrl: string | undefined): string[] {
  const { OAUTH_PROVIDER: provider, ...rest } = variables;
  if (provider === undefined) {
    return rest.OAUTH_ISSUER ?? rest.OAUTH_CLIENT_ID ?? rest.OAUTH_CLIENT_SECRET
      ? ["cannot start: OAUTH_PROVIDER is missing, but other OAUTH_ settings are there"]
      : [];
  }
  const needed = {
    OAUTH_CLIENT_ID: rest.OAUTH_CLIENT_ID,
    OAUTH_CLIENT_SECRET: rest.OAUTH_CLIENT_SECRET,
    ADMIN_USERS: rest.ADMIN_USERS,
    PUBLIC_URL: publicUrl,
    ...(provider === "oidc" ? { OAUTH_ISSUER: rest.OAUTH_ISSUER } : {}),
  };
  const faults = Object.entries(needed).filter(([, value]) => value === undefined)
    .map(([name]) => `cannot start: ${name} is missing, OAUTH_PROVIDER needs it`);
  const { logins, emails, ids } = allowedUsers(rest.ADMIN_USERS);
  if (rest.ADMIN_USERS !== undefined && logins.size + emails.size + ids.size === 0) {
    faults.push("cannot start: ADMIN_USERS names nobody");
  }
  if (provider !== "github" && logins.size > 0) {
    faults.push(
      `cannot start: ADMIN_USERS has a login, but of ${provider} only e-mails and id:… are sure`,
    );
  }
  return faults;
}

/** What works but is hardly meant. */
export function oauthWarnings({ OAUTH_PROVIDER, ADMIN_USERS }: Variables): string[] {
  return OAUTH_PROVIDER === undefined && ADMIN_USERS !== undefined
    ? ["ADMIN_USERS is set, but OAUTH_PROVIDER is not: nobody can sign in by name"]
    : [];
}
