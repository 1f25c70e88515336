import { createHash, type KeyObject, verify } from "node:crypto";
import { JsonNumber, type JsonValue, readJson, walk } from "../decide/event_id.ts";
import type { RequestHead } from "../model.ts";
import type { JwtScheme } from "../signature_scheme.ts";
import { decodeText, sameBytes, utf8 } from "./bytes.ts";
import { type Key, readKey } from "./key.ts";
import { startHmac } from "./mac.ts";
import { headerValue } from "./request_view.ts";
import { type BodyCheck, PASSED, type Refusal, refuse, type Verdict } from "./verdict.ts";

/** Keys of those secrets that fit the scheme. */
export function jwtKeys(scheme: JwtScheme, secrets: readonly string[]): Key[] {
  const algorithm = scheme.algorithm === "HS256" ? "hmac-sha256" : "ecdsa-p256";
  return secrets.map((secret) => readKey(algorithm, scheme.key, secret))
    .filter((key) => key !== undefined);
}

/**
 * Checks a compact JWS in a header. The algorithm is the scheme's; a token that names
 * another one (or none) is refused, as RFC 8725 §3.1 asks.
 */
export function beginJwt(
  scheme: JwtScheme,
  keys: readonly Key[],
  head: RequestHead,
  nowMs: number,
): BodyCheck | Verdict {
  const token = headerValue(head, scheme.header)?.replace(/^bearer +/i, "");
  if (token === undefined) return refuse("missing_signature", `${scheme.header} is missing`);
  const parts = token.split(".");
  const [header, claims, signature] = parts.map((part) => decodeText("base64url", part));
  if (parts.length !== 3 || header === undefined || claims === undefined) {
    return refuse("malformed_signature", `${scheme.header} is not a signed JWT`);
  }
  if (walk(readJson(header), ["alg"]) !== scheme.algorithm || signature === undefined) {
    return refuse("malformed_signature", `${scheme.header} is not signed with ${scheme.algorithm}`);
  }
  const signed = utf8(`${parts[0]}.${parts[1]}`);
  if (!keys.map((key) => isSigned(scheme, key, signed, signature)).includes(true)) {
    return refuse("bad_signature", `${scheme.header} is not signed by the configured key`);
  }
  return checkClaims(scheme, readJson(claims), nowMs);
}

function isSigned(scheme: JwtScheme, key: Key, signed: Uint8Array, signature: Uint8Array): boolean {
  if (scheme.algorithm === "HS256") {
    return sameBytes(startHmac("hmac-sha256", key).update(signed).digest(), signature);
  }
  const der = derSignature(signature);
  return der !== undefined && verify("sha256", signed, key as KeyObject, der);
}

/**
 * JWS carries `r || s` of 32 bytes each (RFC 7518 §3.4); the verifier wants DER, and
 * `dsaEncoding` is not honoured by every Deno that this runs on.
 */
function derSignature(raw: Uint8Array): Uint8Array | undefined {
  if (raw.length !== 64) return undefined;
  const body = [...derInteger(raw.subarray(0, 32)), ...derInteger(raw.subarray(32))];
  return Uint8Array.from([0x30, body.length, ...body]);
}

function derInteger(bytes: Uint8Array): number[] {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? [0] : [...bytes.subarray(first)];
  const positive = digits[0] < 0x80 ? digits : [0, ...digits];
  return [0x02, positive.length, ...positive];
}

function checkClaims(
  scheme: JwtScheme,
  claims: JsonValue | undefined,
  nowMs: number,
): BodyCheck | Verdict {
  if (scheme.issuer !== undefined && walk(claims, ["iss"]) !== scheme.issuer) {
    return refuse("bad_signature", `iss of ${scheme.header} is not ${scheme.issuer}`);
  }
  const fault = timeFault(scheme, claims, nowMs);
  if (fault !== undefined) return fault;
  if (scheme.bodyHashClaim === undefined) return PASSED;
  const claimed = walk(claims, [scheme.bodyHashClaim]);
  return typeof claimed === "string"
    ? beginBodyHash(claimed)
    : refuse("bad_signature", `${scheme.bodyHashClaim} of ${scheme.header} is missing`);
}

function timeFault(
  scheme: JwtScheme,
  claims: JsonValue | undefined,
  nowMs: number,
): Refusal | undefined {
  const expiresS = numeric(walk(claims, ["exp"]));
  if (expiresS !== undefined && !(nowMs < expiresS * 1_000)) {
    return refuse("expired_timestamp", `exp of ${scheme.header} has passed`);
  }
  if (scheme.issuedWithinMs === undefined) return undefined;
  const issuedS = numeric(walk(claims, ["iat"]));
  if (issuedS === undefined) {
    return refuse("missing_timestamp", `iat of ${scheme.header} is missing`);
  }
  const ageMs = Math.floor(nowMs / 1_000) * 1_000 - issuedS * 1_000;
  if (ageMs > scheme.issuedWithinMs) {
    return refuse("expired_timestamp", `iat of ${scheme.header} is too old`);
  }
  return ageMs >= -scheme.issuedWithinMs
    ? undefined
    : refuse("future_timestamp", `iat of ${scheme.header} is in the future`);
}

/** NumericDate, RFC 7519 §2; a claim of another type never passes a comparison. */
function numeric(value: JsonValue | undefined): number | undefined {
  if (value === undefined) return undefined;
  return value instanceof JsonNumber ? Number(value.source) : NaN;
}

function beginBodyHash(claimed: string): BodyCheck {
  const hash = createHash("sha256");
  return {
    update: (chunk) => void hash.update(chunk),
    finish() {
      const same = sameBytes(hash.digest(), decodeText("hex", claimed) ?? new Uint8Array());
      return same ? PASSED : refuse("bad_signature", "the body is not the one that was signed");
    },
  };
}
