import { z } from "./zod.ts";
import { knownName } from "./known_name.ts";
import { duration } from "./retry_policy.ts";

/**
 * How a request proves who sent it, as data: presets and the configuration use the same
 * types. The verifier picks the algorithm, the request never does.
 */
export type Scheme = SignatureScheme | TokenScheme | BasicScheme | JwtScheme;

export const ALGORITHMS = [
  "hmac-sha1",
  "hmac-sha256",
  "hmac-sha384",
  "hmac-sha512",
  "ed25519",
  "ecdsa-p256",
] as const;
export type Algorithm = typeof ALGORITHMS[number];

/**
 * How the configured text becomes a key: `whsec` is base64 behind an optional `whsec_`
 * (Standard Webhooks), `whsec-or-utf8` is text where that prefix is missing (OpenAI),
 * `whpk` a public key behind `whpk_`, `spki` a base64 DER public key, `jwk` a JSON Web Key.
 */
export const KEY_FORMS = [
  "utf8",
  "hex",
  "base64",
  "whsec",
  "whsec-or-utf8",
  "whpk",
  "spki",
  "jwk",
] as const;
export type KeyForm = typeof KEY_FORMS[number];

export const ENCODINGS = ["hex", "base64", "base64url"] as const;
export type Encoding = typeof ENCODINGS[number];

/** Where a value stands: a header, a JSON pointer into the body, an item of the signature. */
export type Source = `header:${string}` | `body:/${string}` | `item:${string}`;

export interface TimestampRule {
  /** The first source that is present counts. */
  from: readonly Source[];
  unit: "s" | "ms" | "rfc3339";
  /** Accepted distance from now, both ways; any age where it is not set. */
  toleranceMs?: number;
  /** At exactly the tolerance the request is already too old. */
  exclusive?: boolean;
  /** Only a JSON number counts, not text. */
  jsonNumber?: boolean;
}

/** A header value made of several named items, such as `t=1,v1=ab,v1=cd`. */
export interface SignatureItems {
  separator: string;
  assign: string;
  /** Names of the items that are signatures; others are ignored. */
  accept: readonly string[];
}

export interface SignatureScheme {
  type: "signature";
  algorithm: Algorithm;
  key: KeyForm;
  /** Template of the signed bytes; its placeholders are listed in docs/senders.md. */
  signedContent: string;
  signature: readonly Source[];
  encoding: Encoding;
  /** Text before the value. */
  prefix?: string;
  /** The value counts without the prefix, too. */
  prefixOptional?: boolean;
  items?: SignatureItems;
  timestamp?: TimestampRule;
  /** Where `{id}` stands. */
  id?: readonly Source[];
  /** JSON pointer to a list: every item carries, and must pass, a signature of its own. */
  each?: string;
  /** Of a form, the decoded field with this name is signed instead of the body. */
  formField?: string;
  /** Header that names the key; the secret is then `name:key`. */
  keyIdHeader?: string;
}

/** The secret itself is sent. */
export interface TokenScheme {
  type: "token";
  from: readonly Source[];
  /** JSON pointer to a list: every item must carry the token. */
  each?: string;
}

/** HTTP Basic (RFC 7617); the secret is `user:password`. */
export interface BasicScheme {
  type: "basic";
  header: string;
}

/** A compact JWS (RFC 7515) in a header, with one fixed algorithm. */
export interface JwtScheme {
  type: "jwt";
  algorithm: "HS256" | "ES256";
  key: KeyForm;
  header: string;
  issuer?: string;
  /** Claim with the body's hex SHA-256. */
  bodyHashClaim?: string;
  /** `iat` is required and at most so far from now. */
  issuedWithinMs?: number;
}

const SOURCE = /^(header:|body:\/|item:)./;
const source = z.custom<Source>(
  (value) => typeof value === "string" && SOURCE.test(value),
  "is not header:NAME, body:/POINTER or item:NAME",
);
const sources = z.preprocess((value) => [value].flat(), z.array(source).min(1));
const pointer = z.string().regex(/^\//, "is not a JSON pointer");

const timestampSchema = z.strictObject({
  from: sources,
  unit: z.enum(["s", "ms", "rfc3339"]).default("s"),
  tolerance: duration.optional(),
  exclusive: z.boolean().optional(),
  jsonNumber: z.boolean().optional(),
}).transform(({ tolerance, ...rule }): TimestampRule => ({ ...rule, toleranceMs: tolerance }));

const objectSchema = z.strictObject({
  algorithm: z.enum(ALGORITHMS).default("hmac-sha256"),
  key: z.enum(KEY_FORMS).default("utf8"),
  signedContent: z.string().min(1).default("{body}"),
  signature: sources.optional(),
  encoding: z.enum(ENCODINGS).default("hex"),
  prefix: z.string().min(1).optional(),
  prefixOptional: z.boolean().optional(),
  items: z.strictObject({
    separator: z.string().min(1),
    assign: z.string().min(1),
    accept: z.array(z.string().min(1)).min(1),
  }).optional(),
  timestamp: timestampSchema.optional(),
  id: sources.optional(),
  each: pointer.optional(),
  formField: z.string().min(1).optional(),
  keyIdHeader: z.string().min(1).optional(),
});

/** A scheme of the configuration; its header may still be named by `signatureHeader`. */
export type CustomScheme =
  | (Omit<SignatureScheme, "signature"> & { signature?: readonly Source[] })
  | { type: "token" }
  | { type: "basic" };

const hmacOfBody = (hash: "sha1" | "sha256" | "sha512", encoding: Encoding): CustomScheme => ({
  type: "signature",
  algorithm: `hmac-${hash}`,
  key: "utf8",
  signedContent: "{body}",
  encoding,
  prefix: `${hash}=`,
  prefixOptional: true,
});

/** Schemes of the configuration that have a name. */
export const NAMED_SCHEMES: Readonly<Record<string, CustomScheme>> = {
  "hmac-sha256-hex": hmacOfBody("sha256", "hex"),
  "hmac-sha256-base64": hmacOfBody("sha256", "base64"),
  "hmac-sha1-hex": hmacOfBody("sha1", "hex"),
  "hmac-sha1-base64": hmacOfBody("sha1", "base64"),
  "hmac-sha512-hex": hmacOfBody("sha512", "hex"),
  "hmac-sha512-base64": hmacOfBody("sha512", "base64"),
  token: { type: "token" },
  basic: { type: "basic" },
};

const nameSchema = knownName(NAMED_SCHEMES, "signature scheme");

/** `"hmac-sha256-hex"` or `{ "signedContent": "{timestamp}.{body}", … }`. */
export const customSignatureSchema = z.unknown().transform((value, context): CustomScheme => {
  const result = (typeof value === "string" ? nameSchema : objectSchema).safeParse(value);
  if (!result.success) {
    for (const issue of result.error.issues) context.addIssue({ ...issue, path: issue.path });
    return z.NEVER;
  }
  return "type" in result.data ? result.data : { type: "signature", ...result.data };
});
