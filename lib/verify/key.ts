import { Buffer } from "node:buffer";
import { createPublicKey, type KeyObject } from "node:crypto";
import type { Algorithm, KeyForm } from "../signature_scheme.ts";
import { lenientBase64, utf8 } from "./bytes.ts";

/** A key ready for use: bytes of an HMAC, or a public key. */
export type Key = Uint8Array | KeyObject;

/** DER of an Ed25519 SubjectPublicKeyInfo before its 32 key bytes (RFC 8410 §4, §10.1). */
const ED25519_SPKI = Buffer.from("302a300506032b6570032100", "hex");

/**
 * Makes a key out of a configured secret. `undefined` where the text does not have the
 * form; an empty key never counts.
 */
export function readKey(algorithm: Algorithm, form: KeyForm, secret: string): Key | undefined {
  if (form === "spki" || form === "jwk") {
    return algorithm === "ecdsa-p256" ? ecKey(form, secret) : undefined;
  }
  if (algorithm === "ecdsa-p256") return undefined;
  const bytes = keyBytes(form, secret);
  if (bytes === undefined || bytes.length === 0) return undefined;
  return algorithm === "ed25519" ? ed25519Key(bytes) : bytes;
}

function keyBytes(form: KeyForm, secret: string): Uint8Array | undefined {
  if (form === "utf8") return utf8(secret);
  if (form === "hex") {
    return /^([0-9A-Fa-f]{2})+$/.test(secret) ? Buffer.from(secret, "hex") : undefined;
  }
  if (form === "base64") return fromBase64(secret);
  if (form === "whpk") return after("whpk_", secret, fromBase64);
  if (secret.startsWith("whpk_")) return undefined;
  if (form === "whsec-or-utf8" && !secret.startsWith("whsec_")) return utf8(secret);
  return after("whsec_", secret, fromBase64) ?? fromBase64(secret);
}

function after<T>(prefix: string, text: string, read: (rest: string) => T): T | undefined {
  return text.startsWith(prefix) ? read(text.slice(prefix.length)) : undefined;
}

/** Secrets are copied with and without their padding; nothing else is taken leniently. */
function fromBase64(text: string): Uint8Array | undefined {
  const bare = text.replace(/={0,2}$/, "");
  const bytes = lenientBase64(bare, "base64");
  return bytes?.toString("base64").replace(/=+$/, "") === bare ? bytes : undefined;
}

function ed25519Key(bytes: Uint8Array): KeyObject | undefined {
  if (bytes.length !== 32) return undefined;
  return publicKey({ key: Buffer.concat([ED25519_SPKI, bytes]), format: "der", type: "spki" });
}

function ecKey(form: "spki" | "jwk", secret: string): KeyObject | undefined {
  const key = form === "spki" ? spkiKey(secret) : jwkKey(secret);
  return key?.asymmetricKeyType === "ec" ? key : undefined;
}

function spkiKey(secret: string): KeyObject | undefined {
  const der = fromBase64(secret.replace(/-----[A-Z ]+-----|\s/g, ""));
  return der && publicKey({ key: Buffer.from(der), format: "der", type: "spki" });
}

function jwkKey(secret: string): KeyObject | undefined {
  try {
    return publicKey({ key: JSON.parse(secret), format: "jwk" });
  } catch {
    return undefined;
  }
}

/** Node throws on malformed keys; here that is an expected failure. */
function publicKey(input: Parameters<typeof createPublicKey>[0]): KeyObject | undefined {
  try {
    return createPublicKey(input);
  } catch {
    return undefined;
  }
}
