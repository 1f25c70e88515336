import { readJson } from "../decide/event_id.ts";
import type { Endpoint } from "../endpoint.ts";
import type { HeaderList, RequestHead } from "../model.ts";
import { rowOf } from "./custom.ts";
import type { Challenge, HandshakeAnswer } from "./handshake.ts";
import { findEventId, hashedId } from "./identity.ts";
import type { AcceptBody, Preset } from "./preset.ts";
import { formFields } from "./request_view.ts";
import { type BodyPieces, isTimed, restamp } from "./restamp.ts";
import { keysOf } from "./signature.ts";
import { type BodyCheck, isVerdict, PASSED, type Refusal, type Verdict } from "./verdict.ts";
import { fits, verifierFor } from "./verifier.ts";

export { PROVIDERS } from "./presets.ts";
export { senderFaults, senderWarnings } from "./sender_faults.ts";
export type { AcceptBody, BodyCheck, BodyPieces, HandshakeAnswer, Verdict };

/** All that depends on who sends: verification, handshakes, identity, answer. */
export interface Sender {
  readonly acceptStatus: number;
  /** 200, or the preset's own status where its sender takes no other one for success. */
  readonly duplicateStatus: number;
  readonly acceptBody: AcceptBody;
  readonly verifies: boolean;
  /** Answers a challenge that shows in the head (GET, HEAD, query, header), before the method check. */
  handshakeHead(head: RequestHead, nowMs: number): HandshakeAnswer | undefined;
  /** Starts verification; a verdict at once where the head alone decides. */
  begin(head: RequestHead, nowMs: number): BodyCheck | Verdict;
  /**
   * Answers a challenge in a body of at most 1 MiB, after it passed verification. Must be
   * asked before anything is stored: unsigned challenges pass verification, too.
   */
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
   * as `holdfast-original-<name>`. `head` is the stored request; where the sender signs its
   * address, `head.url` is the address that is signed.
   */
  restamp?(head: RequestHead, body: BodyPieces, atMs: number): Promise<HeaderList>;
}

/** Builds the sender of an endpoint, once at start; `senderFaults` must have found nothing. */
export function senderFor(endpoint: Endpoint): Sender {
  const row = rowOf(endpoint);
  return {
    acceptStatus: endpoint.acceptStatus ?? row.acceptStatus,
    duplicateStatus: row.acceptStatus === 204 ? 204 : 200,
    acceptBody: endpoint.acceptBody ?? row.acceptBody ?? "json",
    verifies: row.schemes.length > 0 && endpoint.secrets.length > 0,
    dedupWindowMs: endpoint.dedupWindowMs,
    ...handshaking(row, endpoint),
    eventId: (head, whole) => findEventId(row.id, head, whole),
    fallbackId: (head, bodySha256) =>
      row.fallback === "off" ? undefined : hashedId(head, row.fallback.eventType, bodySha256),
    restamp: endpoint.restamp ? restamper(row, endpoint) : undefined,
  };
}

type Door = Pick<Sender, "begin" | "handshakeHead" | "handshakeBody">;

/** Verification and handshakes, which know of each other: some challenges are never signed. */
function handshaking(row: Preset, endpoint: Endpoint): Door {
  const verify = verifierFor(row.schemes, endpoint.secrets);
  const handshakes = row.handshakes ?? [];
  const { secrets, verifyToken } = endpoint;
  const challenge = (head: RequestHead): Challenge => {
    return { head, query: new URLSearchParams(head.query), secrets, verifyToken };
  };
  const answerBody = (head: RequestHead, whole: Uint8Array, nowMs: number, unsigned?: true) => {
    const asked = handshakes.filter((one) => one.inBody && (!unsigned || one.unsigned));
    if (asked.length === 0) return undefined;
    const json = readJson(whole);
    const secret = () => signingSecret(row, endpoint, head, whole, nowMs);
    const body = { ...challenge(head), json, form: formFields(head, whole), secret };
    return firstOf(asked, (one) => one.inBody?.(body));
  };
  const refusal = (head: RequestHead, refused: Refusal): Refusal =>
    handshakes.some((one) => one.refusedAs403?.(head))
      ? { ...refused, code: "handshake_refused" }
      : refused;
  return {
    begin(head, nowMs) {
      const result = verify(head, nowMs);
      if (!isVerdict(result)) return mapRefusal(result, (refused) => refusal(head, refused));
      if (result.ok) return result;
      const mayBeUnsigned = result.code === "missing_signature" &&
        handshakes.some((one) => one.unsigned);
      if (!mayBeUnsigned) return refusal(head, result);
      const isChallenge = (whole: Uint8Array | undefined) =>
        whole !== undefined && answerBody(head, whole, nowMs, true) !== undefined;
      return { update: () => {}, finish: (whole) => isChallenge(whole) ? PASSED : result };
    },
    handshakeHead: (head) => firstOf(handshakes, (one) => one.inHead?.(challenge(head))),
    handshakeBody: (head, whole, nowMs) => answerBody(head, whole, nowMs),
  };
}

function mapRefusal(check: BodyCheck, map: (refused: Refusal) => Refusal): BodyCheck {
  return {
    update: (chunk) => check.update(chunk),
    finish(whole) {
      const verdict = check.finish(whole);
      return verdict.ok ? verdict : map(verdict);
    },
  };
}

function firstOf<T, R>(list: readonly T[], ask: (item: T) => R | undefined): R | undefined {
  for (const item of list) {
    const answer = ask(item);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** Of a rotation's secrets the one that signed this request. */
function signingSecret(
  row: Preset,
  endpoint: Endpoint,
  head: RequestHead,
  whole: Uint8Array,
  nowMs: number,
): string | undefined {
  return endpoint.secrets.find((secret) => {
    const result = verifierFor(row.schemes, [secret])(head, nowMs);
    if (isVerdict(result)) return result.ok;
    result.update(whole);
    return result.finish(whole).ok;
  });
}

function restamper(row: Preset, endpoint: Endpoint): Sender["restamp"] {
  const scheme = row.schemes.filter(isTimed)
    .find((one) => endpoint.secrets.some((secret) => fits(one, secret)));
  if (scheme === undefined) return undefined;
  const keys = keysOf(scheme, endpoint.secrets);
  return (head, body, atMs) => restamp(scheme, keys, head, body, atMs);
}
