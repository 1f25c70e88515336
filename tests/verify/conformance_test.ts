import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac, generateKeyPairSync } from "node:crypto";
import type { RequestHead } from "../../lib/model.ts";
import type { KeyForm, Scheme } from "../../lib/signature_scheme.ts";
import type { Preset } from "../../lib/verify/preset.ts";
import { PRESETS } from "../../lib/verify/presets.ts";
import { type Sender, senderFor } from "../../lib/verify/sender.ts";
import { fits } from "../../lib/verify/verifier.ts";
import { bytes, codeOf, endpointWith, headOf, verdictOf } from "./requests.ts";
import { bodyOf, type Vector, VECTORS } from "./vectors.ts";

/** One set of cases that every preset has to pass, on the requests of the vectors. */

/** Their signature is a shared text or covers only parts: an altered body may still pass. */
const BODY_NOT_COVERED = new Set([
  ...["gitlab", "telegram", "okta", "postmark", "microsoft-graph", "monday", "mailgun", "adyen"],
]);

const EC_KEYS = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** A secret of the right form that signed nothing. */
const OTHER_SECRETS: Record<KeyForm, string> = {
  utf8: "another-secret",
  hex: "ab".repeat(32),
  base64: Buffer.alloc(32, 7).toString("base64"),
  whsec: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
  "whsec-or-utf8": "another-secret",
  whpk: `whpk_${Buffer.alloc(32, 7).toString("base64")}`,
  spki: EC_KEYS.publicKey.export({ format: "der", type: "spki" }).toString("base64"),
  jwk: JSON.stringify(EC_KEYS.publicKey.export({ format: "jwk" })),
};

function otherSecret(scheme: Scheme): string {
  if (scheme.type === "basic") return "another:secret";
  if (scheme.type === "token") return "another-secret";
  const named = scheme.type === "signature" && scheme.keyIdHeader !== undefined;
  return (named ? "another:" : "") + OTHER_SECRETS[scheme.key];
}

interface Case {
  preset: Preset;
  scheme: Scheme;
  vector: Vector;
  head: RequestHead;
  body: Uint8Array;
  nowMs: number;
}

/** For each scheme of each preset a valid request with a body. */
const CASES: Case[] = PRESETS.flatMap((preset) =>
  preset.schemes.map((scheme) => {
    const vector = validVector(preset.name, scheme) ?? validVector("svix", scheme);
    assert.ok(vector, `${preset.name} has no vector`);
    const body = bodyOf(vector);
    return { preset, scheme, vector, head: headOf(vector), body, nowMs: vector.now * 1_000 };
  })
);

/** Clerk and Resend send through Svix, whose vectors stand for their public keys, too. */
function validVector(provider: string, scheme: Scheme): Vector | undefined {
  const own = VECTORS.filter((one) => one.provider === provider && one.valid);
  return own.find((one) => fits(scheme, one.secret) && bodyOf(one).length > 10);
}

const withSecrets = (provider: string, ...secrets: string[]): Sender =>
  senderFor(endpointWith({ provider }, secrets));

const senderOf = ({ preset, vector }: Case) => withSecrets(preset.name, vector.secret);

function withHeader(
  head: RequestHead,
  name: string,
  change: (value: string) => string | undefined,
) {
  const headers = head.headers.flatMap(([key, value]) => {
    const changed = key === name ? change(value) : value;
    return changed === undefined ? [] : [[key, changed] as const];
  });
  return { ...head, headers };
}

const presentHeader = (head: RequestHead, sources: readonly string[]) =>
  sources.filter((one) => one.startsWith("header:")).map((one) => one.slice("header:".length))
    .find((name) => head.headers.some(([key]) => key === name));

/** The header that proves the sender; `undefined` where the proof stands in the body. */
function proofHeader({ scheme, head }: Case): string | undefined {
  if (scheme.type === "signature") return presentHeader(head, scheme.signature);
  return scheme.type === "token" ? presentHeader(head, scheme.from) : scheme.header;
}

const titleOf = ({ preset, scheme }: Case) =>
  `${preset.name} (${scheme.type === "signature" ? scheme.algorithm : scheme.type})`;

/** The code for a case's request, with some of its parts changed. */
function verify(one: Case, changed: Partial<Case & { sender: Sender }> = {}): string {
  const { head, body, nowMs, sender = senderOf(one) } = { ...one, ...changed };
  return codeOf(verdictOf(sender, head, body, nowMs));
}

function secretCases(one: Case): void {
  const { preset: { name }, scheme, vector } = one;
  Deno.test(`${titleOf(one)} tries every secret of a rotation`, () => {
    const other = otherSecret(scheme);
    const code = (...secrets: string[]) => verify(one, { sender: withSecrets(name, ...secrets) });
    assert.equal(code(other, vector.secret), "ok");
    assert.equal(code(vector.secret, other), "ok");
    assert.equal(code(other), "bad_signature");
  });

  Deno.test(`${titleOf(one)} verifies nothing with a blank secret`, () => {
    assert.notEqual(verify(one, { sender: withSecrets(name, "") }), "ok");
  });
}

function bodyCases(one: Case): void {
  const { preset, body } = one;
  Deno.test(`${titleOf(one)} verifies however the body is cut`, () => {
    for (const pieceBytes of [1, 3, body.length]) {
      const verdict = verdictOf(senderOf(one), one.head, body, one.nowMs, pieceBytes);
      assert.equal(codeOf(verdict), "ok");
    }
  });

  for (
    const junk of ["", "null", "[]", "{", `{"signature":[]}`, `{"value":{}}`, "a=%ff&%", "\xff"]
  ) {
    Deno.test(`${titleOf(one)} never throws on the body ${JSON.stringify(junk)}`, () => {
      const code = verify(one, { body: Buffer.from(junk, "latin1") });
      assert.match(code, BODY_NOT_COVERED.has(preset.name) ? /./ : /_(signature|timestamp)$/);
    });
  }

  if (BODY_NOT_COVERED.has(preset.name)) return;
  Deno.test(`${titleOf(one)} refuses a body with one bit changed`, () => {
    for (let at = 0; at < body.length; at += Math.ceil(body.length / 16)) {
      const altered = Uint8Array.from(body);
      altered[at] ^= 1;
      assert.notEqual(verify(one, { body: altered }), "ok", `byte ${at}`);
    }
  });

  Deno.test(`${titleOf(one)} refuses a body that lost or gained a byte at its end`, () => {
    assert.notEqual(verify(one, { body: body.subarray(0, -1) }), "ok");
    assert.notEqual(verify(one, { body: Uint8Array.from([...body, 0x0a]) }), "ok");
  });
}

const NONSENSE = [
  ...["=", ",", "v1=", "v1,", "t=,v1=", "v1=,,,=", "\xff\xfe", "..", "a.b.c", "{}"],
  ...["Basic", "Bearer ", "sha256=é", "A".repeat(9_000)],
];

function proofCases(one: Case, header: string): void {
  const { head } = one;
  const code = (change: (value: string) => string | undefined) =>
    verify(one, { head: withHeader(head, header, change) });

  Deno.test(`${titleOf(one)} tells a missing from a wrong proof`, () => {
    assert.equal(code(() => undefined), "missing_signature");
    assert.equal(code(() => "  "), "missing_signature");
    assert.match(code((value) => value.slice(0, -1)), /^(bad|malformed)_signature$/);
    assert.match(code((value) => value + "A"), /^(bad|malformed)_signature$/);
    assert.match(code((value) => `${value.slice(0, -4)}AAA=`), /^(bad|malformed)_signature$/);
  });

  Deno.test(`${titleOf(one)} finds the right proof before a wrong line`, () => {
    const wrong = head.headers.filter(([key]) => key === header)
      .map(([key, value]) => [key, `x${value}`] as const);
    assert.equal(verify(one, { head: { ...head, headers: [...head.headers, ...wrong] } }), "ok");
  });

  Deno.test(`${titleOf(one)} never throws on nonsense`, () => {
    for (const value of NONSENSE) assert.match(code(() => value), /_(signature|timestamp)$/, value);
  });
}

function toleranceCases(one: Case, toleranceMs: number): void {
  const { preset, vector, nowMs } = one;
  /** No vector is further from its own time than this. */
  const slackMs = 600_000;
  Deno.test(`${titleOf(one)} tells too old from too new`, () => {
    const beyondMs = slackMs + toleranceMs;
    assert.equal(verify(one, { nowMs: nowMs + beyondMs }), "expired_timestamp");
    assert.equal(verify(one, { nowMs: nowMs - beyondMs }), "future_timestamp");
  });

  Deno.test(`${titleOf(one)} takes the tolerance of the configuration`, () => {
    const fields = { provider: preset.name, timestampTolerance: "30d" };
    const sender = senderFor(endpointWith(fields, [vector.secret]));
    assert.equal(verify(one, { sender, nowMs: nowMs + 29 * 86_400_000 }), "ok");
  });
}

function timeCases(one: Case, header: string): void {
  const code = (change: (value: string) => string | undefined) =>
    verify(one, { head: withHeader(one.head, header, change) });
  Deno.test(`${titleOf(one)} refuses a changed time`, () => {
    const nextDigit = (digit: string) => String((Number(digit) + 1) % 10);
    assert.equal(code((value) => value.replace(/\d(?=\D*$)/, nextDigit)), "bad_signature");
  });

  Deno.test(`${titleOf(one)} refuses what is no time`, () => {
    assert.equal(code(() => undefined), "missing_timestamp");
    for (const value of ["NaN", "1e9", "-1", "+1760000000", "0x10", "1760000000.5", "now"]) {
      assert.equal(code(() => value), "malformed_timestamp", value);
    }
  });
}

for (const one of CASES) {
  const { scheme, head } = one;
  secretCases(one);
  bodyCases(one);
  const header = proofHeader(one);
  if (header !== undefined) proofCases(one, header);
  const rule = scheme.type === "signature" ? scheme.timestamp : undefined;
  const toleranceMs = scheme.type === "jwt" ? scheme.issuedWithinMs : rule?.toleranceMs;
  if (toleranceMs !== undefined) toleranceCases(one, toleranceMs);
  const timeHeader = rule && presentHeader(head, rule.from);
  if (timeHeader !== undefined) timeCases(one, timeHeader);
}

/** The senders whose bodies may be larger than what is whole in memory, signed by hand. */
const LARGE: [
  provider: string,
  secret: string,
  sign: (body: Uint8Array) => Record<string, string>,
][] = [
  ["github", "s", (body) => ({ "x-hub-signature-256": `sha256=${mac("s", "hex", body)}` })],
  ["stripe", "s", (body) => ({ "stripe-signature": `t=1,v1=${mac("s", "hex", "1.", body)}` })],
  ["slack", "s", (body) => ({
    "x-slack-request-timestamp": "1",
    "x-slack-signature": `v0=${mac("s", "hex", "v0:1:", body)}`,
  })],
  ["hubspot", "s", (body) => ({
    "x-hubspot-request-timestamp": "1000",
    "x-hubspot-signature-v3": mac("s", "base64", "POSThttps://r.example/h", body, "1000"),
  })],
  ["standard-webhooks", "whsec_c2VjcmV0", (body) => ({
    "webhook-id": "m",
    "webhook-timestamp": "1",
    "webhook-signature": `v1,${mac("secret", "base64", "m.1.", body)}`,
  })],
];

function mac(key: string, encoding: "hex" | "base64", ...parts: (string | Uint8Array)[]): string {
  const hmac = createHmac("sha256", key);
  parts.forEach((part) => hmac.update(part));
  return hmac.digest(encoding);
}

for (const [provider, secret, sign] of LARGE) {
  Deno.test(`${provider} verifies a body that is never whole in memory`, () => {
    const body = new Uint8Array(3 * 1024 * 1024).fill(0x61);
    const head = headOf({ url: "https://r.example/h", headers: sign(body) });
    const sender = withSecrets(provider, secret);
    const check = sender.begin(head, 1_000);
    assert.ok(!("ok" in check));
    for (let at = 0; at < body.length; at += 65_536) check.update(body.subarray(at, at + 65_536));
    assert.equal(codeOf(check.finish(undefined)), "ok");
  });
}

for (const provider of ["twilio", "linear", "mailgun", "adyen", "discord", "microsoft-graph"]) {
  Deno.test(`${provider} says that a large body cannot be verified`, () => {
    const one = CASES.find(({ preset }) => preset.name === provider) as Case;
    const check = senderOf(one).begin(one.head, one.nowMs);
    assert.ok(!("ok" in check));
    check.update(bytes("x"));
    assert.equal(codeOf(check.finish(undefined)), "payload_too_large");
  });
}
