import { createHash, createHmac, randomBytes } from "node:crypto";
import { Buffer } from "node:buffer";

export type Bytes = string | Uint8Array;

/** One byte a character, both ways: HTTP heads are bytes, not text. */
export const latin1 = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, "latin1"));
export const fromLatin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

export const utf8 = (data: Bytes): Uint8Array =>
  typeof data === "string" ? new TextEncoder().encode(data) : data;
export const fromUtf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

export const random = (length: number): Uint8Array => new Uint8Array(randomBytes(length));

export const sha256 = (data: Bytes): string => createHash("sha256").update(data).digest("hex");

/** Hex HMAC of `data` as a sender signs it. */
export const hmacHex = (secret: string, data: Bytes, hash = "sha256"): string =>
  createHmac(hash, secret).update(data).digest("hex");

export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
