import assert from "node:assert/strict";
import { endpointSchema } from "../../lib/endpoint.ts";
import type { SignatureScheme } from "../../lib/signature_scheme.ts";
import { PRESETS } from "../../lib/verify/presets.ts";
import { senderFaults, senderFor, senderWarnings } from "../../lib/verify/sender.ts";
import { fits } from "../../lib/verify/verifier.ts";
import { bytes, codeOf, endpointWith, headOf, verdictOf } from "./requests.ts";
import { bodyOf, VECTORS } from "./vectors.ts";

/** A preset's scheme as somebody would write it into the configuration. */
function written({ type: _, timestamp, ...scheme }: SignatureScheme): Record<string, unknown> {
  if (timestamp === undefined) return scheme;
  const { toleranceMs, ...rule } = timestamp;
  const tolerance = toleranceMs === undefined ? {} : { tolerance: `${toleranceMs / 1_000}s` };
  return { ...scheme, timestamp: { ...rule, ...tolerance } };
}

for (const preset of PRESETS) {
  for (const scheme of preset.schemes) {
    if (scheme.type !== "signature") continue;
    Deno.test(`the configuration can rebuild ${preset.name} (${scheme.algorithm})`, () => {
      const vectors = VECTORS.filter((one) =>
        one.provider === preset.name && fits(scheme, one.secret)
      );
      for (const vector of vectors) {
        const fields = { secret: vector.secret, signatureScheme: written(scheme) };
        const sender = senderFor(endpointWith(fields));
        const verdict = verdictOf(sender, headOf(vector), bodyOf(vector), vector.now * 1_000);
        assert.equal(verdict.ok, vector.valid, vector.name);
      }
    });
  }
}

Deno.test("a scheme by name reads the header that signatureHeader names", () => {
  const fields = { secret: "tok", signatureHeader: "X-Token", signatureScheme: "token" };
  const sender = senderFor(endpointWith(fields));
  const code = (value: string) =>
    codeOf(verdictOf(sender, headOf({ headers: { "X-Token": value } }), bytes("x"), 0));
  assert.equal(code("tok"), "ok");
  assert.equal(code("tik"), "bad_signature");
  assert.equal(code(""), "missing_signature");
});

Deno.test("a basic scheme reads authorization", () => {
  const sender = senderFor(endpointWith({ secret: "u:p", signatureScheme: "basic" }));
  const head = headOf({ headers: { Authorization: `Basic ${btoa("u:p")}` } });
  assert.equal(codeOf(verdictOf(sender, head, bytes("x"), 0)), "ok");
});

const FAULTS: [name: string, fields: Record<string, unknown>, fault: RegExp][] = [
  ["a header without a secret", { signatureHeader: "x-s" }, /^signatureHeader is set without sec/],
  [
    "a header beside a preset",
    { provider: "github", secret: "s", signatureHeader: "x-s" },
    /^signatureHeader is set beside provider/,
  ],
  ["a secret that is not used", { provider: "paypal", secret: "s" }, /^secret is set, but PayPal/],
  ["a secret of the wrong form", { provider: "svix", secret: "nö" }, /^secret is not whsec_ and/],
  ["one of several", { provider: "adyen", secret: ["ab", "xy"] }, /^secret\.1 is not hex digits$/],
  ["a secret without its colon", { provider: "postmark", secret: "s" }, /^secret is not user:pass/],
  ["a key without its name", { provider: "pusher", secret: "s" }, /^secret is not key:a text$/],
  ["a broken public key", { provider: "sendgrid", secret: "AAAA" }, /^secret is not a base64 pub/],
  ["a short public key", { provider: "discord", secret: "abcd" }, /^secret is not 64 hex digits$/],
  ["a key that is no JSON", { provider: "plaid", secret: "{" }, /^secret is not a JSON Web Key$/],
  [
    "an unknown placeholder",
    { secret: "s", signatureScheme: { signedContent: "{boody}" } },
    /^signatureScheme\.signedContent has an unknown placeholder \{boody\}$/,
  ],
  [
    "a body that is signed twice",
    { secret: "s", signatureScheme: { signedContent: "{body}{body}" } },
    /^signatureScheme\.signedContent has \{body\} twice$/,
  ],
  [
    "a time that is signed but not named",
    { secret: "s", signatureScheme: { signedContent: "{timestamp}{body}" } },
    /^signatureScheme\.timestamp is missing, but \{timestamp\} is signed$/,
  ],
  ["restamp without a time", { provider: "github", secret: "s", restamp: true }, /^restamp is set/],
  ["restamp without a secret", { provider: "stripe", restamp: true }, /^restamp needs secret$/],
  [
    "restamp with a public key",
    {
      provider: "svix",
      secret: "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
      restamp: true,
    },
    /^restamp is set, but secret is a public key/,
  ],
  [
    "restamp of a time in the body",
    { provider: "linear", secret: "s", restamp: true },
    /^restamp is set, but there is no signed time/,
  ],
];

for (const [name, fields, fault] of FAULTS) {
  Deno.test(`a fault of the configuration: ${name}`, () => {
    const faults = senderFaults(endpointWith(fields));
    assert.equal(faults.length, 1, faults.join("; "));
    assert.match(faults[0], fault);
  });
}

Deno.test("every preset without a secret, and no settings at all, are no fault", () => {
  assert.deepEqual(senderFaults(endpointWith({})), []);
  for (const { name } of PRESETS) {
    assert.deepEqual(senderFaults(endpointWith({ provider: name })), [], name);
  }
});

for (const space of ["\n", " ", "\t", "\r\n", "\ufeff"]) {
  Deno.test(`a secret with ${JSON.stringify(space)} around it is warned about, not shown`, () => {
    const fields = { provider: "meta", verifyToken: `${space}v0id`, signingSecret: `v0id${space}` };
    const warnings = senderWarnings(endpointWith(fields, ["plain", `v0id${space}`]));
    assert.deepEqual(warnings.map((text) => text.split(" ")[0]), [
      ...["secret", "verifyToken", "signingSecret"],
    ]);
    assert.doesNotMatch(warnings.join("\n"), /v0id/);
    assert.deepEqual(senderWarnings(endpointWith({ provider: "meta", secret: "plain" })), []);
  });
}

const REFUSED: [scheme: unknown, path: string][] = [
  ["md5", "signatureScheme"],
  [{ algorithm: "md5" }, "signatureScheme.algorithm"],
  [{ unknown: 1 }, "signatureScheme"],
  [{ signature: "x-sig" }, "signatureScheme.signature.0"],
  [{ timestamp: { from: "header:x", tolerance: "5x" } }, "signatureScheme.timestamp.tolerance"],
];

for (const [signatureScheme, path] of REFUSED) {
  Deno.test(`the configuration refuses the scheme ${JSON.stringify(signatureScheme)}`, () => {
    const entry = { id: "a", targetUrl: "http://a.example/", signatureScheme };
    const result = endpointSchema.safeParse(entry);
    assert.equal(result.error?.issues[0].path.join("."), path);
  });
}
