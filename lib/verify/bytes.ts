import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import type { Encoding } from "../signature_scheme.ts";

/** Bytes of a header's text: one char a byte, as in `HeaderList`. */
export const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");

export const utf8 = (text: string): Uint8Array => Buffer.from(text, "utf8");

export const concat = (parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);

/** Compares in constant time; only the lengths may show. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * Decodes a signature's text. Hex in any case; base64 only in its one canonical form
 * (lenient decoders take changed trailing bits, garbage and other alphabets for the
 * same bytes), base64url without padding. `undefined` for everything else.
 */
export function decodeText(encoding: Encoding, text: string): Uint8Array | undefined {
  if (encoding === "hex") {
    return /^([0-9A-Fa-f]{2})+$/.test(text) ? Buffer.from(text, "hex") : undefined;
  }
  const bytes = lenientBase64(text, encoding);
  return bytes !== undefined && bytes.length > 0 && bytes.toString(encoding) === text
    ? bytes
    : undefined;
}

/** As Node decodes it; Deno 2.5 throws on some of what Node skips. */
export function lenientBase64(text: string, encoding: "base64" | "base64url"): Buffer | undefined {
  try {
    return Buffer.from(text, encoding);
  } catch {
    return undefined;
  }
}

export function encodeText(encoding: Encoding, bytes: Uint8Array): string {
  return Buffer.from(bytes).toString(encoding);
}

/** The UTF-8 text of bytes, `undefined` where they are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
