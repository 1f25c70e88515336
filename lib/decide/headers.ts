import { LIMITS } from "../limits.ts";
import type { HeaderList } from "../model.ts";

/** Describe one connection, not the message: RFC 9110 §7.6.1, and what browsers invented. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Belong to the framing and addressing of a request, which the transport writes anew. */
const FRAMING = new Set(["content-length", "expect", "host"]);

/** Our own, or notes of the proxies in front of us. */
const PROXY_MARK = /^(cf-|x-deno-|holdfast-)|^(x-forward-to|accept-encoding)$/;

const FORWARDED_BY_US = /^x-forwarded-(for|host|proto)$/;

/**
 * Fields meant for everyone who gets the message. RFC 9110 §7.6.1 forbids to name such a
 * field in `Connection`; a sender that does so must not unsign or retype its own body.
 */
const END_TO_END =
  /^(content-|webhook-|x-forwarded-)|signature|^(authorization|cache-control|cookie|date|idempotency-key|user-agent)$/;

export interface Peer {
  /** The socket's other end, without port. */
  peerAddress: string;
  /** What the sender called us; left out where it named nothing usable. */
  host?: string;
  proto: "http" | "https";
}

/**
 * The header lines to store with an accepted request: the sender's end-to-end lines in
 * their order, then one line each of `x-forwarded-for` (the peer's address last),
 * `-host` and `-proto`, and `holdfast-hops` where relays have passed it on before.
 */
export function receivedHeaders(headers: HeaderList, peer: Peer): HeaderList {
  const named = connectionOptions(headers);
  const kept = headers.filter(([name]) =>
    !HOP_BY_HOP.has(name) && !FRAMING.has(name) && !PROXY_MARK.test(name) &&
    !FORWARDED_BY_US.test(name) && (!named.has(name) || END_TO_END.test(name))
  );
  const address = bareAddress(peer.peerAddress);
  const chain = [...valuesOf(headers, "x-forwarded-for"), address].filter((part) => part !== "");
  const added: [string, string][] = [["x-forwarded-for", chain.join(", ")]];
  if (peer.host !== undefined) added.push(["x-forwarded-host", peer.host]);
  added.push(["x-forwarded-proto", peer.proto]);
  const hops = hopsOf(headers);
  if (hops > 0) added.push(["holdfast-hops", String(hops)]);
  return [...kept, ...added];
}

/** Without brackets; an IPv4 peer in IPv4's own form, also where the socket listens on `::`. */
const bareAddress = (address: string) =>
  address.replace(/^\[|\]$/g, "").replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");

function connectionOptions(headers: HeaderList): Set<string> {
  const options = valuesOf(headers, "connection").flatMap((value) => value.split(","));
  return new Set(options.map((option) => option.trim().toLowerCase()));
}

const valuesOf = (headers: HeaderList, wanted: string) =>
  headers.filter(([name]) => name === wanted).map(([, value]) => value.trim());

/**
 * How many relays a request has passed, from `holdfast-hops`: the largest number given.
 * Anything unreadable counts as one more than `LIMITS.hops`, so that no forged value
 * switches the loop guard off. Leaving the header out gains nothing in a ring: every
 * relay drops what came and writes its own.
 */
export function hopsOf(headers: HeaderList): number {
  const values = valuesOf(headers, "holdfast-hops").flatMap((value) => value.split(","));
  const counts = values.map((value) =>
    /^\d{1,6}$/.test(value.trim()) ? Number(value) : LIMITS.hops + 1
  );
  return Math.max(0, ...counts);
}

export interface AttemptMarks {
  deliveryId: string;
  eventId: string;
  /** Number of this attempt in the delivery's life, from 1. */
  attempt: number;
  acceptedAtMs: number;
  /** Replays so far; 0 leaves the header out. */
  replay: number;
  /** The endpoint's own headers; framing and hop-by-hop names in it are ignored. */
  configured: Readonly<Record<string, string>>;
}

/**
 * The header lines of one attempt: the stored ones, overridden by the endpoint's, and
 * both by ours. `holdfast-hops` is one more than what was stored.
 */
export function attemptHeaders(stored: HeaderList, marks: AttemptMarks): HeaderList {
  const configured = Object.entries(marks.configured)
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => name === "host" || (!HOP_BY_HOP.has(name) && !FRAMING.has(name)));
  const ours: [string, string][] = [
    ["holdfast-delivery-id", marks.deliveryId],
    ["holdfast-event-id", headerSafe(marks.eventId)],
    ["holdfast-attempt", String(marks.attempt)],
    ["holdfast-accepted-at", new Date(marks.acceptedAtMs).toISOString()],
    ["holdfast-hops", String(hopsOf(stored) + 1)],
  ];
  if (marks.replay > 0) ours.push(["holdfast-replay", String(marks.replay)]);
  return override(override(stored, configured), ours);
}

function override(base: HeaderList, over: HeaderList): HeaderList {
  const names = new Set(over.map(([name]) => name));
  return [...base.filter(([name]) => !names.has(name)), ...over];
}

/** What a field value can hold and keep: visible ASCII, spaces only inside. */
const PLAIN = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

/**
 * Text as a header value: unchanged where a header can hold it, else percent-encoded
 * UTF-8 with `%` itself encoded too, so that decoding gives the text back.
 */
export function headerSafe(text: string): string {
  if (PLAIN.test(text)) return text;
  return Array.from(new TextEncoder().encode(text), encodeByte).join("");
}

function encodeByte(byte: number): string {
  const plain = byte > 0x20 && byte < 0x7f && byte !== 0x25;
  return plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** Bytes the lines take in HTTP/1.1: name, colon, space, value, line break. */
export function headerBytes(headers: HeaderList): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
}
