import type { RequestHead } from "../model.ts";
import type { Scheme } from "../signature_scheme.ts";
import { beginJwt, jwtKeys } from "./jwt.ts";
import { keysOf, SignatureVerifier } from "./signature.ts";
import { beginBasic, beginToken } from "./token.ts";
import { anyOf, type BodyCheck, PASSED, type Verdict } from "./verdict.ts";

/** Verifies one request: the schemes' alternatives with the endpoint's secrets. */
export type Begin = (head: RequestHead, nowMs: number) => BodyCheck | Verdict;

/** Whether a secret has the form that a scheme wants. */
export function fits(scheme: Scheme, secret: string): boolean {
  if (scheme.type === "signature") return keysOf(scheme, [secret]).length > 0;
  if (scheme.type === "jwt") return jwtKeys(scheme, [secret]).length > 0;
  if (scheme.type === "basic") return secret.includes(":");
  return secret.trim() !== "";
}

/**
 * Makes schemes and secrets ready, once at start. Every secret is used with the first scheme
 * that it fits, so that a public key can never serve as the key of an HMAC. Without schemes
 * or secrets everything passes.
 */
export function verifierFor(schemes: readonly Scheme[], secrets: readonly string[]): Begin {
  if (schemes.length === 0 || secrets.length === 0) return () => PASSED;
  const begins = schemes.flatMap((scheme, index) => {
    const own = secrets.filter((secret) => schemes.findIndex((s) => fits(s, secret)) === index);
    return own.length === 0 ? [] : [beginOf(scheme, own)];
  });
  return (head, nowMs) => anyOf(begins.map((begin) => begin(head, nowMs)));
}

function beginOf(scheme: Scheme, secrets: readonly string[]): Begin {
  switch (scheme.type) {
    case "signature": {
      const verifier = new SignatureVerifier(scheme, keysOf(scheme, secrets));
      return (head, nowMs) => verifier.begin(head, nowMs);
    }
    case "jwt": {
      const keys = jwtKeys(scheme, secrets);
      return (head, nowMs) => beginJwt(scheme, keys, head, nowMs);
    }
    case "token":
      return (head) => beginToken(scheme, secrets, head);
    case "basic":
      return (head) => beginBasic(scheme, secrets, head);
  }
}
