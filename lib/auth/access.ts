import type { OauthSettings } from "../oauth_settings.ts";
import type { Store } from "../store/kv.ts";
import {
  type Account,
  deleteSession,
  readSession,
  type SessionRow,
  writeSession,
} from "../store/sessions.ts";
import { cookie, isSecure, readCookie } from "./cookies.ts";
import { equalSecrets, hashFor, newSecret } from "./secret.ts";
import { isAllowed } from "./users.ts";

export interface AccessSettings {
  adminToken?: string;
  oauth?: OauthSettings;
  publicUrl?: string;
}

/** A session that is good for this request. The secret is the browser's cookie. */
export interface Session extends SessionRow {
  secret: string;
}

/** A shift; whoever stays longer signs in again. */
const SESSION_MS = 12 * 3_600_000;
/** How often a session is looked at while an answer to it goes on. */
const LOOK_MS = 5_000;

/** Who may operate the relay: by bearer token, or by a session in a browser. */
export class Access {
  readonly settings: AccessSettings;
  readonly #store: Store;

  constructor(settings: AccessSettings, store: Store) {
    this.settings = settings;
    this.#store = store;
  }

  /** Whether anybody at all can get in. */
  get isOpen(): boolean {
    return this.settings.adminToken !== undefined || this.settings.oauth !== undefined;
  }

  /** Whether this browser's cookies are those of https. */
  isSecure(headers: Headers): boolean {
    return isSecure(this.settings.publicUrl, headers.get("host"));
  }

  /** The session of a request, if it has one that is good now. */
  async session(headers: Headers): Promise<Session | undefined> {
    const secret = readCookie(headers.get("cookie"), "session", this.isSecure(headers));
    if (secret === undefined) return undefined;
    const row = await readSession(this.#store, hashFor("session", secret));
    return row !== undefined && this.#isGood(row) ? { ...row, secret } : undefined;
  }

  /**
   * Runs `then` once the session is over, by sign-out in any process or by its time; the
   * returned function calls that off. While the store does not answer, its time alone counts.
   */
  onEnd(session: Session, then: () => void): () => void {
    let isOff = false;
    const look = async () => {
      const row = await this.#readAgain(session);
      if (isOff) return;
      if (row === undefined || !this.#isGood(row)) then();
      else callOff = this.#store.clock.after(LOOK_MS, look);
    };
    let callOff = this.#store.clock.after(LOOK_MS, look);
    return () => {
      isOff = true;
      callOff();
    };
  }

  async #readAgain(session: Session): Promise<SessionRow | undefined> {
    try {
      return await readSession(this.#store, hashFor("session", session.secret));
    } catch {
      return session;
    }
  }

  /** The holder of the token, where the text is the token. */
  tokenHolder(text: string): SessionRow["who"] | undefined {
    const { adminToken } = this.settings;
    return adminToken !== undefined && equalSecrets(text.trim(), adminToken)
      ? { via: "token", digest: hashFor("token", adminToken) }
      : undefined;
  }

  /** Starts a session; returns the cookie for it. */
  async begin(who: SessionRow["who"], headers: Headers): Promise<string> {
    const secret = newSecret();
    const createdAtMs = this.#store.clock.nowMs();
    const row = { who, createdAtMs, expiresAtMs: createdAtMs + SESSION_MS };
    await writeSession(this.#store, hashFor("session", secret), row);
    return cookie("session", secret, SESSION_MS / 1_000, this.isSecure(headers));
  }

  /** Ends a session for good, whoever else has its cookie; returns what makes a browser forget it. */
  async end({ secret }: Session, headers: Headers): Promise<string> {
    await deleteSession(this.#store, hashFor("session", secret));
    return cookie("session", "", 0, this.isSecure(headers));
  }

  #isGood({ who, expiresAtMs }: SessionRow): boolean {
    return expiresAtMs > this.#store.clock.nowMs() && this.#mayEnter(who);
  }

  /** Asked at every request: a changed token or list ends sessions at once. */
  #mayEnter(who: SessionRow["who"]): boolean {
    const { adminToken, oauth } = this.settings;
    if (who.via === "token") {
      return adminToken !== undefined && who.digest === hashFor("token", adminToken);
    }
    return oauth !== undefined && who.issuer === oauth.issuer && isAllowed(who, oauth.users);
  }
}

/** A session's name for the page's corner. */
export function nameOf(who: Account | { via: "token" }): string {
  return who.via === "token" ? "admin token" : who.login ?? who.verifiedEmails[0] ?? who.id;
}
