import type { Store } from "./kv.ts";
import type { Mutation } from "./write.ts";

/**
 * Rows of signing in. A session or state is found by the hash of a secret that only the
 * browser has, so whoever reads the store cannot sign in with what is there. Rows expire
 * some time after they end, since KV's expiry is late; their own times decide.
 */
const sessionKeys = {
  session: (hash: string): Deno.KvKey => ["session", hash],
  state: (hash: string): Deno.KvKey => ["oauth", hash],
  pin: (provider: string, login: string): Deno.KvKey => ["oauth_pin", provider, login],
} as const;

/** Who signed in at an OAuth provider. */
export interface Account {
  via: "account";
  /** The issuer; an account's id means nothing elsewhere. */
  issuer: string;
  id: string;
  login?: string;
  /** Lower-case addresses that the provider says are the account's own. */
  verifiedEmails: readonly string[];
}

/** Who typed the admin token; `digest` tells which one, without telling it. */
export interface TokenHolder {
  via: "token";
  digest: string;
}

export interface SessionRow {
  who: Account | TokenHolder;
  createdAtMs: number;
  expiresAtMs: number;
}

/** A sign-in that has gone to the provider and is not back yet. */
export interface StateRow {
  verifier: string;
  nonce: string;
  /** Hash of the cookie of the browser that started it. */
  browser: string;
  returnTo: string;
  expiresAtMs: number;
}

/** Size of a row at most, with room for a few addresses. */
const ROW_BYTES = 2_048;

/** Stores a session under its secret's hash. */
export async function writeSession(store: Store, hash: string, row: SessionRow): Promise<void> {
  await set(store, sessionKeys.session(hash), row);
}

/** Reads a session, also one that is over: whoever asks looks at `expiresAtMs`. */
export async function readSession(store: Store, hash: string): Promise<SessionRow | undefined> {
  return (await store.kv.get<SessionRow>(sessionKeys.session(hash))).value ?? undefined;
}

/** Ends a session. */
export async function deleteSession(store: Store, hash: string): Promise<void> {
  await commit(store, [], { type: "delete", key: sessionKeys.session(hash) });
}

/** Stores a sign-in that has begun under its state's hash. */
export async function writeState(store: Store, hash: string, row: StateRow): Promise<void> {
  await set(store, sessionKeys.state(hash), row);
}

/** Takes a state out of the store: of several callers at most one gets it. */
export async function takeState(store: Store, hash: string): Promise<StateRow | undefined> {
  const key = sessionKeys.state(hash);
  const { value, versionstamp } = await store.kv.get<StateRow>(key);
  if (value === null) return undefined;
  const isTaken = await commit(store, [{ key, versionstamp }], { type: "delete", key });
  return isTaken ? value : undefined;
}

/** The account id that a login first came with; `id` where it comes for the first time. */
export async function pinLogin(
  store: Store,
  issuer: string,
  login: string,
  id: string,
): Promise<string> {
  const key = sessionKeys.pin(issuer, login);
  await commit(store, [{ key, versionstamp: null }], { type: "set", key, value: id });
  return (await store.kv.get<string>(key)).value ?? id;
}

async function set(store: Store, key: Deno.KvKey, row: SessionRow | StateRow): Promise<void> {
  const expireIn = Math.max(1, row.expiresAtMs - store.clock.nowMs());
  await commit(store, [], { type: "set", key, value: row, expireIn });
}

async function commit(
  store: Store,
  checks: Deno.AtomicCheck[],
  mutation: Mutation,
): Promise<boolean> {
  const { ok } = await store.committer.commit({ checks, mutations: [mutation], bytes: ROW_BYTES });
  return ok;
}
