import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** A fresh secret of 256 bits, as text that fits cookies and URLs. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** A secret's hash for one use; hashes for other uses tell nothing of it. */
export function hashFor(use: string, secret: string): string {
  return createHash("sha256").update(`${use}\0${secret}`).digest("base64url");
}

/** Compares in a time that tells neither content nor length. */
export function equalSecrets(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
