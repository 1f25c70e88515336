import { Buffer } from "node:buffer";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { idAtPath } from "../decide/event_id.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Problem, ProblemCode } from "../errors.ts";
import type { HeaderList, RequestHead } from "../model.ts";

/** `detail` names header and cause; never a secret nor the expected value. */
export type Verdict = { ok: true } | { ok: false; code: ProblemCode; detail: string };

/** A verification under way, fed while the body streams. */
export interface BodyCheck {
  update(chunk: Uint8Array): void;
  /** `whole` is the body where it is at most `LIMITS.wholeBodyBytes`, else `undefined`. */
  finish(whole: Uint8Array | undefined): Verdict;
}

/** What a handshake is answered with; nothing is stored. */
export interface HandshakeAnswer {
  status: number;
  headers: HeaderList;
  body: string;
  /** What the operator must be told. May hold a key that the sender made: not for the log. */
  report?: string;
  /** Set where the handshake is refused; `status` is its status, `body` is empty. */
  refused?: Problem;
}

/** The body of the answer to an accepted event: ours, none, or a document the sender wants. */
export type AcceptBody = "json" | "empty" | { contentType: string; body: string };

/** One request's bytes, in pieces. */
export type BodyPieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** All that depends on who sends: verification, handshakes, identity, answer. */
export interface Sender {
  readonly acceptStatus: number;
  readonly acceptBody: AcceptBody;
  readonly verifies: boolean;
  /** Answers a challenge that shows in the head (GET, HEAD, query, header), before the method check. */
  handshakeHead(head: RequestHead, nowMs: number): HandshakeAnswer | undefined;
  /** Starts verification; a verdict at once where the head alone decides. */
  begin(head: RequestHead, nowMs: number): BodyCheck | Verdict;
  /** Answers a challenge in a body of at most 1 MiB, after it passed verification. */
  handshakeBody(head: RequestHead, whole: Uint8Array, nowMs: number): HandshakeAnswer | undefined;
  /** The sender's id of the event, `undefined` where it gave none. */
  eventId(head: RequestHead, whole: Uint8Array | undefined): string | undefined;
  /**
   * The id of an event that has none, from the body's hex SHA-256. `undefined` for senders
   * whose different events have equal bodies: those are never recognised as repeats.
   */
  fallbackId(head: RequestHead, bodySha256: string): string | undefined;
  /** How long a repeat is recognised, where the endpoint says so. */
  readonly dedupWindowMs?: number;
  /**
   * Present for endpoints with `restamp`: the whole header list of an attempt at `atMs`, with
   * timestamp and signature made anew over the same bytes and the sender's own ones beside
   * as `holdfast-original-<name>`.
   */
  restamp?(head: RequestHead, body: BodyPieces, atMs: number): Promise<HeaderList>;
}

/** Names and aliases that `provider` may have. */
export const PROVIDERS: ReadonlySet<string> = new Set();

const DEFAULT_SIGNATURE_HEADER = "x-hub-signature-256";
const DEFAULT_ID_HEADERS = ["idempotency-key", "webhook-id", "x-request-id", "x-event-id"];

/** What is wrong with an endpoint's sender settings; empty where nothing is. */
export function senderFaults(_endpoint: Endpoint): string[] {
  return [];
}

/** Builds the sender of an endpoint, once at start. */
export function senderFor(endpoint: Endpoint): Sender {
  const signatureHeader = (endpoint.signatureHeader ?? DEFAULT_SIGNATURE_HEADER).toLowerCase();
  return {
    acceptStatus: endpoint.acceptStatus ?? 202,
    acceptBody: endpoint.acceptBody ?? "json",
    verifies: endpoint.secrets.length > 0,
    dedupWindowMs: endpoint.dedupWindowMs,
    handshakeHead: () => undefined,
    handshakeBody: () => undefined,
    begin: (head) =>
      endpoint.secrets.length === 0
        ? { ok: true }
        : beginHmac(head, signatureHeader, endpoint.secrets),
    eventId: (head, whole) => eventId(endpoint, head, whole),
    fallbackId: requestHash,
  };
}

function headerText(head: RequestHead, name: string): string | undefined {
  const line = head.headers.find(([key, value]) => key === name && value.trim() !== "");
  return line?.[1].trim();
}

function beginHmac(
  head: RequestHead,
  header: string,
  secrets: readonly string[],
): BodyCheck | Verdict {
  const text = headerText(head, header);
  if (text === undefined) {
    return refuse("missing_signature", `${header} is missing`);
  }
  const hex = text.startsWith("sha256=") ? text.slice("sha256=".length) : text;
  if (!/^[0-9A-Fa-f]{64}$/.test(hex)) {
    return refuse("malformed_signature", `${header} is not 64 hex digits`);
  }
  const signature = Buffer.from(hex, "hex");
  const macs = secrets.map((secret) => createHmac("sha256", secret));
  return {
    update: (chunk) => macs.forEach((mac) => mac.update(chunk)),
    finish: () =>
      macs.map((mac) => timingSafeEqual(mac.digest(), signature)).includes(true)
        ? { ok: true }
        : refuse("bad_signature", `${header} does not match the body`),
  };
}

function refuse(code: ProblemCode, fact: string): Verdict {
  return { ok: false, code, detail: `cannot verify request: ${fact}` };
}

function eventId(endpoint: Endpoint, head: RequestHead, whole: Uint8Array | undefined) {
  for (const name of endpoint.idHeaders ?? DEFAULT_ID_HEADERS) {
    const id = headerText(head, name.toLowerCase());
    if (id !== undefined) return id;
  }
  if (endpoint.idPath === undefined || whole === undefined) return undefined;
  return idAtPath(whole, endpoint.idPath);
}

function requestHash(head: RequestHead, bodySha256: string): string {
  const text = [head.method, head.path, head.query, bodySha256].join("\n");
  return createHash("sha256").update(text).digest("hex");
}
