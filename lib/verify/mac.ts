import { createHmac, createVerify, type KeyObject, verify } from "node:crypto";
import type { Algorithm } from "../signature_scheme.ts";
import { concat, sameBytes } from "./bytes.ts";
import type { Key } from "./key.ts";

/** One run of an algorithm over the signed bytes. */
export interface SignatureRun {
  update(bytes: Uint8Array): void;
  matches(): boolean;
}

/** Bytes of a signature; ECDSA's DER form varies in length. */
export const SIGNATURE_BYTES: Readonly<Record<Algorithm, number | undefined>> = {
  "hmac-sha1": 20,
  "hmac-sha256": 32,
  "hmac-sha384": 48,
  "hmac-sha512": 64,
  ed25519: 64,
  "ecdsa-p256": undefined,
};

/** Ed25519 hashes key and message together and Node has no incremental form of it. */
export const needsWholeMessage = (algorithm: Algorithm): boolean => algorithm === "ed25519";

export const isHmac = (algorithm: Algorithm): boolean => algorithm.startsWith("hmac-");

/** Starts an HMAC, for verifying and for signing anew. */
export function startHmac(algorithm: Algorithm, key: Key) {
  return createHmac(algorithm.slice("hmac-".length), key as Uint8Array);
}

/** Starts a run that passes if any of the signatures is the key's. */
export function startRun(
  algorithm: Algorithm,
  key: Key,
  signatures: readonly Uint8Array[],
): SignatureRun {
  if (algorithm === "ed25519") return ed25519Run(key as KeyObject, signatures);
  if (algorithm === "ecdsa-p256") return ecdsaRun(key as KeyObject, signatures);
  const mac = startHmac(algorithm, key);
  return {
    update: (bytes) => void mac.update(bytes),
    matches() {
      const expected = mac.digest();
      return signatures.map((signature) => sameBytes(signature, expected)).includes(true);
    },
  };
}

function ecdsaRun(key: KeyObject, signatures: readonly Uint8Array[]): SignatureRun {
  const runs = signatures.map((signature) => ({ signature, verifier: createVerify("sha256") }));
  return {
    update: (bytes) => runs.forEach(({ verifier }) => verifier.update(bytes)),
    matches: () => runs.some(({ verifier, signature }) => verifier.verify(key, signature)),
  };
}

function ed25519Run(key: KeyObject, signatures: readonly Uint8Array[]): SignatureRun {
  const parts: Uint8Array[] = [];
  return {
    update: (bytes) => void parts.push(bytes),
    matches: () => signatures.some((signature) => verify(null, concat(parts), key, signature)),
  };
}
