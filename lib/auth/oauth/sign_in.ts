import * as client from "openid-client";
import { type Problem, problem } from "../../errors.ts";
import type { OauthSettings } from "../../oauth_settings.ts";
import type { Store } from "../../store/kv.ts";
import {
  type Account,
  pinLogin,
  type StateRow,
  takeState,
  writeState,
} from "../../store/sessions.ts";
import { hashFor } from "../secret.ts";
import { isAllowed, isByLogin } from "../users.ts";
import { openProvider, type Provider } from "./provider.ts";

/** A refusal, with what the provider or the library said, for the log. */
export type SignInFault = Problem & { cause?: string };

/** Time to type a password and a second factor. */
const STATE_MS = 10 * 60_000;

/** Signs operators in with the authorization code flow: PKCE, state and nonce (RFC 9700 §2.1). */
export class OauthSignIn {
  readonly #settings: OauthSettings;
  readonly #store: Store;
  #provider: Promise<Provider> | undefined;

  constructor(settings: OauthSettings, store: Store) {
    this.#settings = settings;
    this.#store = store;
  }

  /** Where to send a browser. `browser` is the secret of its cookie, `returnTo` one of our pages. */
  async start(
    browser: string,
    returnTo: string,
  ): Promise<{ url: string; lifeS: number } | SignInFault> {
    const provider = await this.#open();
    if ("code" in provider) return provider;
    const state = client.randomState();
    const row: StateRow = {
      verifier: client.randomPKCECodeVerifier(),
      nonce: client.randomNonce(),
      browser: hashFor("oauth", browser),
      returnTo,
      expiresAtMs: this.#store.clock.nowMs() + STATE_MS,
    };
    await writeState(this.#store, hashFor("state", state), row);
    const url = client.buildAuthorizationUrl(provider.configuration, {
      redirect_uri: this.#settings.redirectUrl,
      scope: provider.scope,
      code_challenge: await client.calculatePKCECodeChallenge(row.verifier),
      code_challenge_method: "S256",
      state,
      ...(provider.usesNonce ? { nonce: row.nonce } : {}),
    });
    return { url: url.href, lifeS: STATE_MS / 1_000 };
  }

  /** Ends a sign-in with the query of the callback. A state is good once, in its own browser. */
  async finish(
    browser: string,
    search: string,
  ): Promise<{ account: Account; returnTo: string } | SignInFault> {
    const state = new URLSearchParams(search).get("state") ?? "";
    const row = await takeState(this.#store, hashFor("state", state));
    if (row === undefined || row.expiresAtMs <= this.#store.clock.nowMs()) {
      return refused("its time is over or it has been used; start again");
    }
    if (row.browser !== hashFor("oauth", browser)) {
      return refused("it was not started in this browser");
    }
    const account = await this.#exchange(search, state, row);
    if ("code" in account) return account;
    return await this.#admit(account) ?? { account, returnTo: row.returnTo };
  }

  async #exchange(search: string, state: string, row: StateRow): Promise<Account | SignInFault> {
    const provider = await this.#open();
    if ("code" in provider) return provider;
    try {
      const callback = new URL(search, this.#settings.redirectUrl);
      const tokens = await client.authorizationCodeGrant(provider.configuration, callback, {
        pkceCodeVerifier: row.verifier,
        expectedState: state,
        ...(provider.usesNonce ? { expectedNonce: row.nonce, idTokenExpected: true } : {}),
      });
      return await provider.accountOf(tokens);
    } catch (error) {
      return { ...refused("the provider did not confirm it"), cause: causeOf(error) };
    }
  }

  /** The list decides; a login counts only for the account it first came with. */
  async #admit(account: Account): Promise<SignInFault | undefined> {
    const { users, issuer } = this.#settings;
    if (!isAllowed(account, users)) return refused("ADMIN_USERS does not have this account");
    const { login, id } = account;
    if (login === undefined || !isByLogin(login, users) || users.ids.has(id)) return undefined;
    const pinned = await pinLogin(this.#store, issuer, login.toLowerCase(), id);
    return pinned === id
      ? undefined
      : refused("this login first came with another account; name the account's id in ADMIN_USERS");
  }

  /** A provider that could not be found is looked for again by the next. */
  async #open(): Promise<Provider | SignInFault> {
    try {
      return await (this.#provider ??= openProvider(this.#settings));
    } catch (error) {
      this.#provider = undefined;
      return {
        ...problem("forbidden", "cannot sign you in: the provider does not answer"),
        cause: causeOf(error),
      };
    }
  }
}

const refused = (why: string) => problem("forbidden", `cannot sign you in: ${why}`);

/** Codes and names, not the answer itself: that may hold tokens. */
function causeOf(error: unknown): string {
  const { message, code, error: named } = error as Error & { code?: string; error?: string };
  return [message, code, named].filter((part) => typeof part === "string").join("; ");
}
