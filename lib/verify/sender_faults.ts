import type { Endpoint } from "../endpoint.ts";
import type { Scheme } from "../signature_scheme.ts";
import { rowOf } from "./custom.ts";
import { presetOf } from "./presets.ts";
import { isTimed } from "./restamp.ts";
import { readTemplate } from "./signed_content.ts";
import { fits } from "./verifier.ts";

/**
 * What is wrong with an endpoint's sender settings, each a sentence that starts with the
 * field; empty where nothing is. An endpoint that looks protected is never left open.
 */
export function senderFaults(endpoint: Endpoint): string[] {
  const { schemes, unverified } = rowOf(endpoint);
  return [
    ...customFaults(endpoint),
    ...schemes.flatMap(templateFaults),
    ...secretFaults(endpoint, schemes, unverified),
    ...restampFaults(endpoint, schemes),
  ];
}

/** What an operator should know before trusting an endpoint, though it works as configured. */
export function senderWarnings(endpoint: Endpoint): string[] {
  return [...unverifiedWarnings(endpoint), ...blankWarnings(endpoint)];
}

function unverifiedWarnings(endpoint: Endpoint): string[] {
  const preset = endpoint.provider === undefined ? undefined : presetOf(endpoint.provider);
  if (preset === undefined || endpoint.secrets.length > 0) return [];
  return [
    preset.unverified ??
      `secret is not set: requests in the name of ${preset.title} are not verified`,
  ];
}

/** Files and copied lines bring white space along, and then nothing that is signed fits. */
function blankWarnings({ secrets, verifyToken, signingSecret }: Endpoint): string[] {
  const fields: [field: string, value: string | undefined][] = [
    ...secrets.map((secret): [string, string] => ["secret", secret]),
    ["verifyToken", verifyToken],
    ["signingSecret", signingSecret],
  ];
  return fields.filter(([, value]) => value !== value?.trim())
    .map(([field]) => `${field} begins or ends with white space, which counts as part of it`);
}

function customFaults(endpoint: Endpoint): string[] {
  const fields = (["signatureHeader", "signatureScheme"] as const)
    .filter((field) => endpoint[field] !== undefined);
  if (endpoint.provider !== undefined) {
    return fields.map((field) => `${field} is set beside provider, which has its own`);
  }
  return endpoint.secrets.length > 0
    ? []
    : fields.map((field) => `${field} is set without secret, so nothing would be verified`);
}

function templateFaults(scheme: Scheme): string[] {
  if (scheme.type !== "signature") return [];
  const template = readTemplate(scheme.signedContent);
  const needs: [placeholder: string, given: unknown][] = [
    ["timestamp", scheme.timestamp],
    ["id", scheme.id],
  ];
  const missing = needs.filter(([name, given]) =>
    scheme.signedContent.includes(`{${name}}`) && given === undefined
  );
  return [
    ...(typeof template === "string" ? [`signatureScheme.signedContent ${template}`] : []),
    ...missing.map(([name]) => `signatureScheme.${name} is missing, but {${name}} is signed`),
  ];
}

function secretFaults(
  endpoint: Endpoint,
  schemes: readonly Scheme[],
  unverified: string | undefined,
): string[] {
  if (unverified !== undefined && endpoint.secrets.length > 0) {
    return [`secret is set, but ${unverified}`];
  }
  return endpoint.secrets.flatMap((secret, index) => {
    if (schemes.some((scheme) => fits(scheme, secret))) return [];
    const field = endpoint.secrets.length === 1 ? "secret" : `secret.${index}`;
    return [`${field} is not ${schemes.map(secretForm).join(" or ")}`];
  });
}

/** What a scheme's secret looks like. */
export function secretForm(scheme: Scheme): string {
  if (scheme.type === "basic") return "user:password";
  if (scheme.type === "token") return "a text that is not blank";
  if (scheme.type === "signature" && scheme.algorithm === "ed25519" && scheme.key === "hex") {
    return "64 hex digits";
  }
  const named = scheme.type === "signature" && scheme.keyIdHeader !== undefined ? "key:" : "";
  return named + KEY_TEXT[scheme.key];
}

const KEY_TEXT = {
  utf8: "a text",
  hex: "hex digits",
  base64: "base64",
  whsec: "whsec_ and base64",
  "whsec-or-utf8": "whsec_ and base64",
  whpk: "whpk_ and a base64 public key",
  spki: "a base64 public key",
  jwk: "a JSON Web Key",
} as const;

function restampFaults(endpoint: Endpoint, schemes: readonly Scheme[]): string[] {
  if (!endpoint.restamp) return [];
  if (endpoint.secrets.length === 0) return ["restamp needs secret"];
  const timed = schemes.filter(isTimed);
  if (timed.length === 0) {
    return ["restamp is set, but there is no signed time that could be renewed"];
  }
  return endpoint.secrets.some((secret) => timed.some((scheme) => fits(scheme, secret)))
    ? []
    : ["restamp is set, but secret is a public key, which cannot sign"];
}
