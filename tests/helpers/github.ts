import { createVerify, generateKeyPairSync } from "node:crypto";
import { Buffer } from "node:buffer";
import { hmacHex } from "./bytes.ts";

/** One row of the history, as the API shows it; ids exceed what a double holds. */
export interface Row {
  id: bigint;
  guid: string;
  delivered_at: string;
  redelivery: boolean;
  status_code: number;
  event: string;
  action: string | null;
  url: string;
}

/** What becomes of a delivery: really sent, lost on the way, or only held for delivered. */
export type Fate = "send" | "fail" | "phantom";

export interface Call {
  method: string;
  /** Path and query. */
  path: string;
}

/** An answer in place of the ordinary one; `undefined` for the ordinary one. */
export type Fault = (call: Call, index: number) => Response | undefined;

interface Hook {
  url: string;
  contentType: string;
  secret?: string;
  events: string[];
  permissions: Record<string, string>;
  active: boolean;
}

export const APP_ID = "4711";
export const TOKEN = "ghp_of-the-tests";

/** The App's key pair; one for all tests, since making it takes a while. */
const APP_KEYS = generateKeyPairSync("rsa", { modulusLength: 2048 });
export const APP_KEY = APP_KEYS.privateKey.export({ type: "pkcs1", format: "pem" }).toString();

const FIRST_ID = 3_804_004_623_172_239_366n;
/** GitHub allows a JWT no more than ten minutes. */
const MAX_JWT_S = 600;

/**
 * A stand-in for GitHub: the part of its API that deals with the deliveries of one hook,
 * which can be read as an App's, a repository's (`octo/repo`, 1) or an organisation's.
 * Redelivery really sends the event to the hook's URL.
 */
export class StandInGithub implements AsyncDisposable {
  readonly calls: Call[] = [];
  /** In the order in which they ended; the API lists them by id. */
  readonly rows: Row[] = [];
  readonly hook: Hook;
  fault: Fault = () => undefined;
  /** Holds an answer back until it settles. */
  delay: (call: Call) => Promise<void> | undefined = () => undefined;
  /** What becomes of redeliveries. */
  redeliveryFate: Fate = "send";
  nowMs: () => number = Date.now;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #sending = new Set<Promise<void>>();
  #nextId = FIRST_ID;
  #nextGuid = 1;

  constructor(hook: Partial<Hook> = {}) {
    const ordinary = { contentType: "json", secret: "hook-secret", active: true };
    this.hook = { url: "", ...ordinary, events: [], permissions: {}, ...hook };
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => this.#serve(request),
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Something happens at GitHub; returns the GUID. */
  async deliver(fate: Fate = "send", atMs = this.nowMs()): Promise<string> {
    const n = this.#nextGuid++;
    const guid = `${String(n).padStart(8, "0")}-0000-11f0-8000-000000000000`;
    await this.#send(guid, fate, false, atMs);
    return guid;
  }

  /** Calls that asked for a redelivery. */
  get redeliveries(): Call[] {
    return this.calls.filter(({ method }) => method === "POST");
  }

  /** Calls that read a page of the history. */
  get pages(): Call[] {
    return this.calls.filter(({ method, path }) =>
      method === "GET" && /\/deliveries(\?|$)/.test(path)
    );
  }

  /** GUIDs for which a redelivery was asked. */
  get redelivered(): string[] {
    return this.redeliveries.map(({ path }) => {
      const id = /deliveries\/(\d+)\/attempts/.exec(path)?.[1];
      return this.rows.find((row) => String(row.id) === id)?.guid ?? `no row ${id}`;
    });
  }

  /** Waits until all redeliveries have been sent. */
  async quiet(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.quiet();
    await this.#server.shutdown();
  }

  async #send(guid: string, fate: Fate, redelivery: boolean, atMs: number): Promise<void> {
    const { url } = this.hook;
    const row: Row = {
      id: this.#nextId++,
      guid,
      delivered_at: new Date(atMs).toISOString(),
      redelivery,
      status_code: fate === "phantom" ? 200 : 502,
      event: "issues",
      action: "opened",
      url,
    };
    if (fate === "send") row.status_code = await this.#post(guid, url);
    this.rows.push(row);
  }

  async #post(guid: string, url: string): Promise<number> {
    const body = JSON.stringify({ action: "opened", guid });
    const headers = {
      "content-type": "application/json",
      "user-agent": "GitHub-Hookshot/0000000",
      "x-github-event": "issues",
      "x-github-delivery": guid,
      "x-hub-signature-256": `sha256=${hmacHex(this.hook.secret ?? "", body)}`,
    };
    try {
      const response = await fetch(url, { method: "POST", headers, body });
      await response.body?.cancel();
      return response.status;
    } catch {
      return 502;
    }
  }

  async #serve(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const call = { method: request.method, path: pathname + search };
    const index = this.calls.push(call) - 1;
    await this.delay(call);
    const response = this.fault(call, index) ?? this.#refusal(request, pathname) ??
      this.#answer(call, new URL(request.url));
    response.headers.set("date", new Date(this.nowMs()).toUTCString());
    return response;
  }

  #refusal(request: Request, path: string): Response | undefined {
    const authorization = request.headers.get("authorization") ?? "";
    const fault = path.startsWith("/app")
      ? jwtFault(authorization, this.nowMs())
      : authorization === `Bearer ${TOKEN}`
      ? undefined
      : "Bad credentials";
    return fault === undefined ? undefined : json({ message: fault }, 401);
  }

  #answer({ method, path }: Call, url: URL): Response {
    const [, base, rest = ""] = HOOK_PATH.exec(url.pathname) ?? [];
    if (path === "/app") {
      const { events, permissions } = this.hook;
      return json({ id: Number(APP_ID), events, permissions });
    }
    if (base === undefined) return json({ message: "Not Found" }, 404);
    if (rest === "/config") return json(this.#config());
    if (rest === "") return json({ ...this.hook, config: this.#config() });
    if (rest === "/deliveries") return this.#page(url);
    const [, id, attempts] = /^\/deliveries\/(\d+)(\/attempts)?$/.exec(rest) ?? [];
    const row = this.rows.find((one) => String(one.id) === id);
    if (row === undefined) return json({ message: "Not Found" }, 404);
    if (attempts === undefined) return json(row);
    if (method !== "POST") return json({ message: "Not Found" }, 404);
    const sending = this.#send(row.guid, this.redeliveryFate, true, this.nowMs())
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
    return json({}, 202);
  }

  #config() {
    const { url, contentType, secret } = this.hook;
    return { url, content_type: contentType, insecure_ssl: "0", secret: secret && "********" };
  }

  /** Newest first; a cursor names the last row of the page before. */
  #page(url: URL): Response {
    const size = Number(url.searchParams.get("per_page") ?? 30);
    const cursor = url.searchParams.get("cursor");
    const before = cursor === null ? undefined : BigInt(cursor.replace("v1_", ""));
    const left = this.rows.toSorted((a, b) => a.id < b.id ? 1 : -1)
      .filter(({ id }) => before === undefined || id < before);
    const page = left.slice(0, size);
    const headers = new Headers();
    if (left.length > size) {
      const next = new URL(url);
      next.searchParams.set("cursor", `v1_${page.at(-1)?.id}`);
      headers.set("link", `<${next}>; rel="next", <${url.origin}${url.pathname}>; rel="first"`);
    }
    return json(page.map(({ url: _, ...row }) => row), 200, headers);
  }
}

const HOOK_PATH = /^(\/app\/hook|\/repos\/octo\/repo\/hooks\/1|\/orgs\/octo\/hooks\/1)(\/.*)?$/;

/** JSON with ids as whole numbers, however long. */
function json(data: unknown, status = 200, headers = new Headers()): Response {
  headers.set("content-type", "application/json; charset=utf-8");
  const text = JSON.stringify(
    data,
    (_, value) => typeof value === "bigint" ? `big:${value}` : value,
  );
  return new Response(text.replaceAll(/"big:(\d+)"/g, "$1"), { status, headers });
}

/** What GitHub has against an App's token, in its own words; `undefined` for nothing. */
function jwtFault(authorization: string, nowMs: number): string | undefined {
  const [, head, body, signature] = /^bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/i.exec(authorization) ??
    [];
  const bad = "A JSON web token could not be decoded";
  if (head === undefined) return bad;
  const verified = createVerify("RSA-SHA256").update(`${head}.${body}`)
    .verify(APP_KEYS.publicKey, Buffer.from(signature, "base64url"));
  const { alg } = decoded(head);
  const { iss, iat, exp } = decoded(body);
  if (!verified || alg !== "RS256" || String(iss) !== APP_ID) return bad;
  const nowS = nowMs / 1_000;
  if (!(Number(iat) <= nowS)) {
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
  }
  if (!(Number(exp) > nowS)) {
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
  }
  return Number(exp) > nowS + MAX_JWT_S
    ? "'Expiration time' claim ('exp') is too far in the future"
    : undefined;
}

const decoded = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, "base64url").toString());
