import * as client from "openid-client";
import type { OauthSettings } from "../../oauth_settings.ts";
import type { Account } from "../../store/sessions.ts";

/** What a finished exchange of a code leads to. */
type Tokens = Awaited<ReturnType<typeof client.authorizationCodeGrant>>;

/** One kind of provider: where it is, what to ask for, whose account a token is. */
export interface Provider {
  configuration: client.Configuration;
  scope: string;
  /** OpenID Connect binds the ID token to this sign-in with a nonce. */
  usesNonce: boolean;
  accountOf(tokens: Tokens): Promise<Account>;
}

/** A provider that does not answer is an outage, soon told. */
const TIMEOUT_S = 10;

/** Finds the provider of the settings. Rejects where it does not answer. */
export function openProvider(settings: OauthSettings): Promise<Provider> {
  return settings.provider === "github"
    ? Promise.resolve(githubProvider(settings))
    : oidcProvider(settings);
}

async function oidcProvider(settings: OauthSettings): Promise<Provider> {
  const { issuer, clientId, clientSecret } = settings;
  const configuration = await client.discovery(
    new URL(issuer),
    clientId,
    { client_secret: clientSecret },
    undefined,
    { timeout: TIMEOUT_S, execute: execute(issuer) },
  );
  return {
    configuration,
    scope: "openid email profile",
    usesNonce: true,
    async accountOf(tokens) {
      const claims = tokens.claims();
      if (claims === undefined) throw new Error("cannot sign in: the provider sent no ID token");
      const more = configuration.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      const told: Record<string, unknown> = { ...claims, ...more };
      const { email, email_verified: verified } = told;
      const isOwn = typeof email === "string" && verified === true;
      return {
        via: "account",
        issuer,
        id: claims.sub,
        verifiedEmails: isOwn ? [email.toLowerCase()] : [],
      };
    },
  };
}

/**
 * GitHub speaks OAuth 2 without OpenID Connect, so its addresses are known and the account is
 * asked for at its API (docs.github.com, "Authorizing OAuth apps").
 */
function githubProvider(
  { issuer, clientId, clientSecret, users, apiUrl }: OauthSettings,
): Provider {
  const at = (path: string) => new URL(path, issuer).href;
  const configuration = new client.Configuration(
    {
      issuer: at("/login/oauth"),
      authorization_endpoint: at("/login/oauth/authorize"),
      token_endpoint: at("/login/oauth/access_token"),
    },
    clientId,
    clientSecret,
  );
  configuration.timeout = TIMEOUT_S;
  for (const adjust of execute(issuer)) adjust(configuration);
  const wantsEmails = users.emails.size > 0;
  return {
    configuration,
    scope: wantsEmails ? "read:user user:email" : "read:user",
    usesNonce: false,
    async accountOf({ access_token }) {
      const user = await ask<{ id: number; login: string }>(apiUrl, "/user", access_token);
      const emails = wantsEmails
        ? await ask<{ email: string; verified: boolean }[]>(apiUrl, "/user/emails", access_token)
        : [];
      return {
        via: "account",
        issuer,
        id: String(user.id),
        login: user.login,
        verifiedEmails: emails.filter((one) => one.verified).map((one) => one.email.toLowerCase()),
      };
    },
  };
}

async function ask<T>(apiUrl: string, path: string, token: string): Promise<T> {
  const response = await fetch(apiUrl + path, {
    headers: { authorization: `Bearer ${token}`, accept: "application/vnd.github+json" },
    signal: AbortSignal.timeout(TIMEOUT_S * 1_000),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`cannot read ${path} at GitHub: status is ${response.status}`);
  }
  return await response.json();
}

/** The settings allow plain http for loopback issuers alone; the library must be told. */
function execute(issuer: string): ((configuration: client.Configuration) => void)[] {
  return issuer.startsWith("http:") ? [client.allowInsecureRequests] : [];
}
