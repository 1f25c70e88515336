import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { type Endpoint, endpointSchema, toEndpoint } from "../../lib/endpoint.ts";
import type { RequestHead } from "../../lib/model.ts";
import { type Sender, senderFor, type Verdict } from "../../lib/verify/sender.ts";

const SECRET = "It's a Secret to Everybody";
/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
const OFFICIAL = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
const BODY = new TextEncoder().encode("Hello, World!");

function endpoint(fields: Record<string, unknown>): Endpoint {
  return toEndpoint(
    endpointSchema.parse({ id: "demo", targetUrl: "http://127.0.0.1:9000/in", ...fields }),
  );
}

function head(headers: Record<string, string>): RequestHead {
  return {
    method: "POST",
    path: "",
    query: "",
    url: "http://127.0.0.1:8000/hook/demo",
    headers: Object.entries(headers),
  };
}

function verify(sender: Sender, headers: Record<string, string>, body = BODY): Verdict {
  const check = sender.begin(head(headers), 0);
  if ("ok" in check) return check;
  for (let at = 0; at < body.length; at += 5) check.update(body.subarray(at, at + 5));
  return check.finish(body);
}

const codeOf = (verdict: Verdict) => verdict.ok ? "ok" : verdict.code;

const signed = senderFor(endpoint({ secret: SECRET, signatureHeader: "X-Signature" }));

const SIGNATURES: [name: string, value: string, code: string][] = [
  ["the official value", `sha256=${OFFICIAL}`, "ok"],
  ["the value without its prefix", OFFICIAL, "ok"],
  ["upper-case hex", `sha256=${OFFICIAL.toUpperCase()}`, "ok"],
  ["spaces around it", `  sha256=${OFFICIAL} `, "ok"],
  ["a short value", "sha256=abc", "malformed_signature"],
  ["only a prefix", "sha256=", "malformed_signature"],
  ["an empty value", "", "missing_signature"],
  ["64 times z", "z".repeat(64), "malformed_signature"],
  ["63 digits", `sha256=${OFFICIAL.slice(1)}`, "malformed_signature"],
  ["65 digits", `sha256=${OFFICIAL}0`, "malformed_signature"],
  ["another digest", `sha256=${"0".repeat(64)}`, "bad_signature"],
  ["an upper-case prefix", `SHA256=${OFFICIAL}`, "malformed_signature"],
  ["an unknown algorithm", "bogus=00", "malformed_signature"],
  ["no algorithm", `=${OFFICIAL}`, "malformed_signature"],
  [
    "a right SHA-1",
    `sha1=${createHmac("sha1", SECRET).update(BODY).digest("hex")}`,
    "malformed_signature",
  ],
  [
    "a right SHA-512",
    `sha512=${createHmac("sha512", SECRET).update(BODY).digest("hex")}`,
    "malformed_signature",
  ],
];

for (const [name, value, code] of SIGNATURES) {
  Deno.test(`a plain signature: ${name} gives ${code}`, () => {
    assert.equal(codeOf(verify(signed, { "x-signature": value })), code);
  });
}

Deno.test("a plain signature over an altered body is refused", () => {
  const altered = new TextEncoder().encode("Hello, World?");
  assert.equal(
    codeOf(verify(signed, { "x-signature": `sha256=${OFFICIAL}` }, altered)),
    "bad_signature",
  );
});

Deno.test("a secret without a named header is looked for in x-hub-signature-256", () => {
  const sender = senderFor(endpoint({ secret: SECRET }));
  assert.equal(codeOf(verify(sender, { "x-hub-signature-256": `sha256=${OFFICIAL}` })), "ok");
});

Deno.test("any secret of a rotation passes", () => {
  const sender = senderFor(endpoint({ secret: ["new", SECRET] }));
  assert.equal(codeOf(verify(sender, { "x-hub-signature-256": OFFICIAL })), "ok");
});

Deno.test("an endpoint without a secret takes everything", () => {
  const sender = senderFor(endpoint({}));
  assert.equal(sender.verifies, false);
  assert.equal(codeOf(verify(sender, {})), "ok");
});

const IDS: [name: string, fields: object, headers: Record<string, string>, id?: string][] = [
  ["the first default header", {}, { "x-request-id": "r", "idempotency-key": "i" }, "i"],
  ["a trimmed header", {}, { "x-event-id": "  e " }, "e"],
  ["the next header after a blank one", {}, { "webhook-id": "  ", "x-event-id": "e" }, "e"],
  ["no id in an empty header", { idHeaders: ["x-event-id"] }, { "x-event-id": "" }, undefined],
  ["only the configured headers", { idHeaders: ["X-Mine"] }, { "x-request-id": "r" }, undefined],
  ["a configured header in any case", { idHeaders: ["X-Mine"] }, { "x-mine": "m" }, "m"],
  ["the path where no header has it", { idPath: "n.id" }, {}, "7"],
  ["a header before the path", { idPath: "n.id" }, { "x-event-id": "e" }, "e"],
];

for (const [name, fields, headers, id] of IDS) {
  Deno.test(`a plain sender's event id is ${name}`, () => {
    const body = new TextEncoder().encode(`{"n":{"id":7}}`);
    assert.equal(senderFor(endpoint({ ...fields })).eventId(head(headers), body), id);
  });
}

Deno.test("a body that is not whole in memory has no id of its own", () => {
  assert.equal(senderFor(endpoint({ idPath: "id" })).eventId(head({}), undefined), undefined);
});

Deno.test("the fallback id tells method, path, query and body apart", () => {
  const sender = senderFor(endpoint({}));
  const heads: RequestHead[] = [
    head({}),
    { ...head({}), method: "PUT" },
    { ...head({}), path: "/a" },
    { ...head({}), query: "a" },
  ];
  const ids = [...heads.map((h) => sender.fallbackId(h, "00")), sender.fallbackId(heads[0], "01")];
  assert.equal(new Set(ids).size, 5);
  assert.equal(sender.fallbackId(heads[0], "00"), ids[0]);
});
