import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { verifyCaptured } from "../../lib/verify/explain.ts";
import { bytes, headOf } from "./requests.ts";
import { bodyOf, VECTORS } from "./vectors.ts";

const T = 1_760_000_000_000;
const H = 3_600_000;

const hmac = (key: string | Uint8Array, text: string, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", key).update(text).digest(encoding);

/** A request as somebody would write it into a file. */
function captured(headers: Record<string, string>, body: string, eol = "\r\n"): Uint8Array {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return bytes(["POST /hook/demo HTTP/1.1", "Host: r.example", ...lines, "", body].join(eol));
}

const github = (signed: string, body: string, secret = "k3y") =>
  verifyCaptured({
    request: captured({ "X-Hub-Signature-256": `sha256=${hmac("k3y", signed)}` }, body),
    provider: "github",
    secrets: [secret],
    nowMs: T,
  });

Deno.test("a captured request that verifies is told so, whatever its line ends", () => {
  for (const eol of ["\r\n", "\n"]) {
    const headers = { "X-Hub-Signature-256": `sha256=${hmac("k3y", "{}")}` };
    const request = captured(headers, "{}", eol);
    const got = verifyCaptured({ request, provider: "github", secrets: ["k3y"], nowMs: T });
    assert.deepEqual(got, { verifies: true, detail: "the request is GitHub's", causes: [] });
  }
});

Deno.test("what an editor adds after the announced length is no part of the body", () => {
  const headers = {
    "X-Hub-Signature-256": `sha256=${hmac("k3y", "{}")}`,
    "Content-Length": "2",
  };
  const request = captured(headers, "{}\n");
  assert.ok(verifyCaptured({ request, provider: "github", secrets: ["k3y"], nowMs: T }).verifies);
});

const BODIES: [signed: string, body: string, cause: RegExp][] = [
  [`{"a":1}`, `{"a":1}\n`, /the body without the line break at its end/],
  [`{"a":1}\n`, `{"a":1}`, /the body with a line break at its end/],
  [`{"a":1}\r\n`, `{"a":1}`, /the body with CR LF at its end/],
  ["a=1\r\nb=2", "a=1\nb=2", /the body with CR LF as line breaks/],
  [`{"a":1,"b":[1,2]}`, `{ "a": 1, "b": [1, 2] }`, /without spaces/],
  [`{"a": 1, "b": [1, 2]}`, `{"a":1,"b":[1,2]}`, /a space after colons and commas/],
  [`{\n  "a": 1\n}`, `{"a":1}`, /indented by two/],
  [`{"a":"\\u00e4\\ud83d\\ude00"}`, `{"a":"ä😀"}`, /non-ASCII text as \\u escapes/],
  [`{"a":"ä"}`, `{"a":"\\u00e4"}`, /without \\u escapes/],
  [`{"a":"x\\/y"}`, `{"a":"x/y"}`, /slashes escaped/],
];

for (const [signed, body, cause] of BODIES) {
  Deno.test(`${JSON.stringify(signed)} that became ${JSON.stringify(body)} is recognised`, () => {
    const got = github(signed, body);
    assert.equal(got.verifies, false);
    assert.equal(got.code, "bad_signature");
    assert.equal(got.causes.length, 1);
    assert.match(got.causes[0], cause);
  });
}

Deno.test("another secret and an altered value have no cause that can be told", () => {
  assert.deepEqual(github("{}", "{}", "other").causes, []);
  assert.deepEqual(github(`{"a":1}`, `{"a":2}`).causes, []);
});

Deno.test("a secret with white space around it is recognised", () => {
  assert.deepEqual(github("{}", "{}", "k3y\n").causes, ["the secret has white space around it"]);
});

Deno.test("only an expired time is told from a wrong signature", () => {
  const vector = VECTORS.find((one) => one.provider === "stripe" && one.name === "valid")!;
  const got = verifyCaptured({
    request: captured(vector.headers, new TextDecoder().decode(bodyOf(vector))),
    provider: "stripe",
    secrets: [vector.secret],
    nowMs: vector.now * 1_000 + 6 * H,
  });
  assert.equal(got.code, "expired_timestamp");
  assert.match(got.detail, /^cannot verify request: t is 216\d\d s old, 300 s are allowed$/);
  assert.match(got.causes[0], /^only the time/);
});

Deno.test("an altered body is found behind an expired time", () => {
  const stamp = T / 1_000;
  const headers = {
    "X-Slack-Request-Timestamp": String(stamp),
    "X-Slack-Signature": `v0=${hmac("s", `v0:${stamp}:{}`)}`,
  };
  const request = captured(headers, "{}\n");
  const got = verifyCaptured({ request, provider: "slack", secrets: ["s"], nowMs: T + 6 * H });
  assert.equal(got.code, "expired_timestamp");
  assert.match(got.causes[0], /without the line break/);
});

Deno.test("a Stripe secret whose prefix was left out is recognised", () => {
  const headers = {
    "Stripe-Signature": `t=${T / 1_000},v1=${hmac("whsec_abc", `${T / 1_000}.{}`)}`,
  };
  const request = captured(headers, "{}");
  const got = verifyCaptured({ request, provider: "stripe", secrets: ["abc"], nowMs: T });
  assert.deepEqual(got.causes, ["the secret lacks its prefix whsec_"]);
});

Deno.test("a secret that the sender decodes first is recognised", () => {
  const key = Uint8Array.of(1, 2, 3, 250);
  const secret = btoa(String.fromCharCode(...key));
  const headers = { "X-Zm-Request-Timestamp": "1", "X-Zm-Signature": `v0=${hmac(key, "v0:1:{}")}` };
  const request = captured(headers, "{}");
  const got = verifyCaptured({ request, provider: "zoom", secrets: [secret], nowMs: T });
  assert.match(got.causes[0], /the secret is used as base64/);
});

Deno.test("the address that was signed is recognised", () => {
  const signature = hmac("s", "http://r.example/hook/demo{}", "base64");
  const request = captured({ "X-Square-HmacSha256-Signature": signature }, "{}");
  const ask = (url?: string) =>
    verifyCaptured({ request, provider: "square", secrets: ["s"], nowMs: T, url });
  assert.deepEqual(ask().causes, ["the address that was signed is http://r.example/hook/demo"]);
  assert.equal(ask("http://r.example/hook/demo").verifies, true);
});

Deno.test("another provider's request is recognised", () => {
  const request = captured({ "X-Hub-Signature": `sha256=${hmac("s", "{}")}` }, "{}");
  const got = verifyCaptured({ request, provider: "github", secrets: ["s"], nowMs: T });
  assert.equal(got.code, "missing_signature");
  assert.deepEqual(got.causes, [
    "the request has other headers that look like a proof: x-hub-signature",
    "it verifies as provider bitbucket",
  ]);
});

Deno.test("a secret of the wrong kind is named by its form", () => {
  const request = captured({ "Webhook-Id": "m" }, "{}");
  const got = verifyCaptured({ request, provider: "svix", secrets: ["nö"], nowMs: T });
  assert.match(got.causes[0], /^the secret is not whsec_ and base64 or whpk_/);
});

Deno.test("a body that was cut is told by its length", () => {
  const headers = {
    "X-Hub-Signature-256": `sha256=${hmac("k3y", "{}....")}`,
    "Content-Length": "6",
  };
  const request = captured(headers, "{}");
  const got = verifyCaptured({ request, provider: "github", secrets: ["k3y"], nowMs: T });
  assert.deepEqual(got.causes, ["the body was cut: it has 2 bytes, content-length is 6"]);
});

const UNREADABLE: [request: string, provider: string, detail: RegExp][] = [
  ["", "github", /the first line is not/],
  ["{}", "github", /the first line is not/],
  ["POST / HTTP/1.1\nX-A: b\n{}", "github", /a header line has no colon/],
  ["POST / HTTP/1.1\n\n", "nobody", /provider nobody is not known/],
  ["POST / HTTP/1.1\n\n", "paypal", /PayPal signs with a certificate/],
];

for (const [request, provider, detail] of UNREADABLE) {
  Deno.test(`${JSON.stringify(request)} of ${provider} cannot be judged`, () => {
    const got = verifyCaptured({ request: bytes(request), provider, secrets: ["s"], nowMs: T });
    assert.equal(got.verifies, false);
    assert.equal(got.code, undefined);
    assert.match(got.detail, detail);
  });
}

Deno.test("no explanation ever shows the secret or throws, for all refused vectors", () => {
  for (const vector of VECTORS.filter((one) => !one.valid && one.secret.length > 10)) {
    const body = bodyOf(vector);
    const lines = headOf(vector).headers.map(([name, value]) => `${name}: ${value}`);
    const start = [`${vector.method} ${vector.url ?? "/"} HTTP/1.1`, ...lines, "", ""].join("\r\n");
    const got = verifyCaptured({
      request: Uint8Array.from([...new TextEncoder().encode(start), ...body]),
      provider: vector.provider,
      secrets: [vector.secret],
      nowMs: vector.now * 1_000,
    });
    assert.equal(got.verifies, false, `${vector.provider} ${vector.name}`);
    assert.ok(!JSON.stringify(got).includes(vector.secret), `${vector.provider} ${vector.name}`);
  }
});
