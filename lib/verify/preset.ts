import type {
  Algorithm,
  Encoding,
  KeyForm,
  Scheme,
  SignatureScheme,
  TimestampRule,
} from "../signature_scheme.ts";
import type { Handshake } from "./handshake.ts";
import type { IdSource } from "./identity.ts";

/** The body of the answer to an accepted event: ours, none, or a document the sender wants. */
export type AcceptBody = "json" | "empty" | { contentType: string; body: string };

/** One sender, as data: adding a sender is adding such a row. */
export interface Preset {
  name: string;
  title: string;
  aliases?: readonly string[];
  /** Where the address is entered and what becomes `secret`, for docs and messages. */
  setup: string;
  /** Alternatives; the form of a secret decides which one it is for. Empty: nothing is verified. */
  schemes: readonly Scheme[];
  /** Why nothing is verified at the door. */
  unverified?: string;
  /** Tried in order. */
  id: readonly IdSource[];
  /** Without an id: the hash of event type, request target and body; or no recognition at all. */
  fallback: { eventType?: string } | "off";
  acceptStatus: number;
  acceptBody?: AcceptBody;
  handshakes?: readonly Handshake[];
  /** What an operator should know beside the table's columns. */
  note?: string;
}

interface HmacOptions {
  algorithm?: Algorithm;
  key?: KeyForm;
  content?: string;
  encoding?: Encoding;
  prefix?: string;
  timestamp?: TimestampRule;
}

/** An HMAC in a header of its own: over the raw body, unless `content` says otherwise. */
export function hmac(header: string, options: HmacOptions = {}): SignatureScheme {
  const { algorithm = "hmac-sha256", key = "utf8", content = "{body}", encoding = "hex" } = options;
  return {
    type: "signature",
    algorithm,
    key,
    signedContent: content,
    signature: [`header:${header}`],
    encoding,
    ...(options.prefix === undefined ? {} : { prefix: options.prefix }),
    ...(options.timestamp === undefined ? {} : { timestamp: options.timestamp }),
  };
}

/** A header of named items, one of them the time: `t=1760000000,v1=…`. */
export function hmacItems(
  header: string,
  accept: string,
  options: HmacOptions & { separator?: string } = {},
): SignatureScheme {
  const { separator = ",", ...rest } = options;
  return { ...hmac(header, rest), items: { separator, assign: "=", accept: [accept] } };
}

/** How long a signed time is good for, in seconds; for ever where the sender names no limit. */
export function stamp(
  from: TimestampRule["from"][number],
  unit: TimestampRule["unit"],
  toleranceS?: number,
): TimestampRule {
  return {
    from: [from],
    unit,
    ...(toleranceS === undefined ? {} : { toleranceMs: toleranceS * 1_000 }),
  };
}

/**
 * Standard Webhooks (github.com/standard-webhooks/standard-webhooks, spec): `v1` is an HMAC,
 * `v1a` Ed25519; 5 minutes. Svix' older header names mean the same and are taken as well.
 */
export function standardWebhooks(
  names: "webhook" | "svix",
  options: { key?: KeyForm; publicKey?: false } = {},
): readonly Scheme[] {
  const order = names === "webhook" ? ["webhook", "svix"] : ["svix", "webhook"];
  const headers = (what: string) => order.map((name) => `header:${name}-${what}` as const);
  const v1: SignatureScheme = {
    type: "signature",
    algorithm: "hmac-sha256",
    key: options.key ?? "whsec",
    signedContent: "{id}.{timestamp}.{body}",
    signature: headers("signature"),
    encoding: "base64",
    items: { separator: " ", assign: ",", accept: ["v1"] },
    timestamp: { from: headers("timestamp"), unit: "s", toleranceMs: 300_000 },
    id: headers("id"),
  };
  if (options.publicKey === false) return [v1];
  const items = { separator: " ", assign: ",", accept: ["v1a"] };
  return [v1, { ...v1, algorithm: "ed25519", key: "whpk", items }];
}
