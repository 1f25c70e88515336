import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { generateKeyPairSync } from "node:crypto";
import { fc } from "../helpers/properties.ts";
import { readJson } from "../../lib/decide/event_id.ts";
import type { RequestHead } from "../../lib/model.ts";
import { ALGORITHMS, ENCODINGS, KEY_FORMS } from "../../lib/signature_scheme.ts";
import { decodeText, encodeText } from "../../lib/verify/bytes.ts";
import { readCaptured } from "../../lib/verify/captured.ts";
import { verifyCaptured } from "../../lib/verify/explain.ts";
import { readKey } from "../../lib/verify/key.ts";
import { startRun } from "../../lib/verify/mac.ts";
import { PRESETS } from "../../lib/verify/presets.ts";
import { atPointer } from "../../lib/verify/request_view.ts";
import { senderFor } from "../../lib/verify/sender.ts";
import { readSignatureText, writeSignatureText } from "../../lib/verify/signature_text.ts";
import { readTemplate } from "../../lib/verify/signed_content.ts";
import { readTimestampMs, timestampFault, writeTimestamp } from "../../lib/verify/timestamp.ts";
import { anyBody, anyText, fieldValues, near, texts } from "../helpers/arbitrary.ts";
import { endpointWith, verdictOf } from "./requests.ts";
import { bodyOf, VECTORS } from "./vectors.ts";

const NOW = Date.UTC(2026, 10, 30, 12);
const filled = fc.uint8Array({ minLength: 1, maxLength: 64 });

for (const encoding of ENCODINGS) {
  Deno.test(`decodeText() reads ${encoding} in one form only, and what was written`, () => {
    fc.assert(fc.property(filled, (bytes) => {
      assert.deepEqual(decodeText(encoding, encodeText(encoding, bytes)), Buffer.from(bytes));
    }));
    fc.assert(fc.property(texts("c2lnbmF0dXJlIQ==", "aGVsbG8_aGk", "DEADbeef"), (text) => {
      const bytes = decodeText(encoding, text);
      if (bytes === undefined) return;
      const again = encodeText(encoding, bytes);
      assert.equal(encoding === "hex" ? text.toLowerCase() : text, again);
    }));
  });
}

Deno.test("readTimestampMs() gives a finite time or nothing, and timestampFault() a refusal", () => {
  const unit = fc.constantFrom("s" as const, "ms" as const, "rfc3339" as const);
  fc.assert(fc.property(texts("1764504000", "2026-11-30T12:00:00Z", "-1"), unit, (text, unit) => {
    const ms = readTimestampMs(text, unit);
    assert.ok(ms === undefined || Number.isFinite(ms));
    const fault = timestampFault(text, { from: ["header:t"], unit, toleranceMs: 300_000 }, NOW);
    const isNear = ms !== undefined && Math.abs(NOW - ms) <= 300_000;
    assert.equal(fault === undefined, isNear);
  }));
  fc.assert(fc.property(fc.nat(Date.UTC(2100, 0)), unit, (atMs, unit) => {
    const read = readTimestampMs(writeTimestamp(atMs, unit), unit);
    assert.equal(read, unit === "s" ? atMs - atMs % 1_000 : atMs);
  }));
});

const SIGNATURES = PRESETS.flatMap(({ schemes }) => schemes).filter((scheme) =>
  scheme.type === "signature"
);

Deno.test("readSignatureText() takes any text in every sender's form, and reads what was written", () => {
  const scheme = fc.constantFrom(...SIGNATURES);
  const text = fieldValues("t=1764504000,v1=ab,v1=cd", "sha256=deadbeef", "v1,c2ln v1,c2ln");
  fc.assert(fc.property(scheme, text, (scheme, text) => {
    for (const bytes of readSignatureText(scheme, text).signatures) {
      assert.notEqual(bytes.length, 0);
    }
  }));
  fc.assert(fc.property(scheme, filled, (scheme, bytes) => {
    const written = writeSignatureText(scheme, [bytes]);
    assert.deepEqual(readSignatureText(scheme, written).signatures, [Buffer.from(bytes)]);
  }));
});

const EC = ["P-256", "P-384"].map((namedCurve) =>
  generateKeyPairSync("ec", { namedCurve }).publicKey
);
const KEYS = [
  ...["secret", "deadbeef", "c2VjcmV0", "whsec_c2VjcmV0", `whpk_${"A".repeat(43)}=`],
  ...EC.map((key) => key.export({ format: "der", type: "spki" }).toString("base64")),
  ...EC.map((key) => JSON.stringify(key.export({ format: "jwk" }))),
];

Deno.test("readKey() makes a key of any text or none, and no signature makes a key throw", () => {
  const all = fc.tuple(fc.constantFrom(...ALGORITHMS), fc.constantFrom(...KEY_FORMS));
  const signature = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    near("\x30\x44\x02\x20" + "a".repeat(32) + "\x02\x20" + "b".repeat(32))
      .map((text) => Buffer.from(text, "latin1")),
  );
  fc.assert(fc.property(all, texts(...KEYS), signature, ([algorithm, form], secret, bytes) => {
    const key = readKey(algorithm, form, secret);
    if (key === undefined) return;
    if (algorithm === "ed25519" && bytes.length !== 64) return;
    const run = startRun(algorithm, key, [bytes]);
    run.update(new Uint8Array([1]));
    assert.equal(run.matches(), false);
  }));
});

Deno.test("readTemplate() takes any text: pieces that make it up, or what is wrong", () => {
  const template = texts("{timestamp}.{body}", "v0:{timestamp}:{body}", "{header:x-a}{body:/a?}");
  fc.assert(fc.property(template, (text) => {
    const read = readTemplate(text);
    if (typeof read === "string") return assert.match(read, /^has /);
    const whole = read.pieces.map((piece) => "text" in piece ? piece.text : `{${piece.name}}`);
    assert.equal(whole.join(""), text);
  }));
});

for (const template of ["{timestamp,{body}", "{timestamp}.{body.", "{body", "body}", "{{body}}"]) {
  Deno.test(`regression: the template ${template} has an unpaired brace`, () => {
    assert.equal(readTemplate(template), "has a brace that belongs to no placeholder");
  });
}

Deno.test("atPointer() follows every pointer that is written as RFC 6901 asks", () => {
  const names = fc.array(anyText.filter((text) => text.isWellFormed()), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(fc.property(names, (path) => {
    const json = path.reduceRight<string>(
      (inner, name) => `{${JSON.stringify(name)}:${inner}}`,
      "true",
    );
    const escaped = path.map((name) => name.replaceAll("~", "~0").replaceAll("/", "~1"));
    assert.equal(
      atPointer(readJson(new TextEncoder().encode(json)), `/${escaped.join("/")}`),
      true,
    );
  }));
});

const CAPTURED = VECTORS.map((vector) => {
  const { provider, secret, method, url = "https://h.example/hook", headers } = vector;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const { pathname, search, host } = new URL(url);
  const top = [`${method} ${pathname}${search} HTTP/1.1`, `host: ${host}`, ...lines];
  const body = Buffer.from(bodyOf(vector)).toString("latin1");
  return { provider, secret, url, text: [...top, "", body].join("\r\n") };
});

const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const captured = texts("POST / HTTP/1.1\n\n", ...CAPTURED.map(({ text }) => text)).map(latin1);

Deno.test("readCaptured() takes any bytes: a request whose body is in them, or what is wrong", () => {
  fc.assert(fc.property(captured, (bytes) => {
    const read = readCaptured(bytes);
    if (typeof read === "string") return;
    const { body, head } = read;
    assert.ok(Buffer.from(bytes).includes(Buffer.from(body)));
    for (const [name] of head.headers) assert.equal(name, name.toLowerCase());
  }));
});

Deno.test("verifyCaptured() has a verdict on any bytes for every sender", () => {
  const question = fc.constantFrom(...CAPTURED).chain(({ provider, secret, url, text }) =>
    fc.record({
      request: fc.oneof(near(text), near(text).map((text) => text.replace("host: ", "host: ["))),
      provider: fc.constant(provider),
      secrets: fc.array(texts(secret, ...KEYS), { minLength: 1, maxLength: 2 }),
      url: fc.oneof(fc.constant(undefined), near(url), anyText),
    })
  );
  fc.assert(
    fc.property(question, ({ request, ...asked }) => {
      const given = { ...asked, request: latin1(request), nowMs: NOW };
      const { verifies, detail } = verifyCaptured(given);
      assert.match(detail, verifies ? /^the request is / : /^cannot verify request: ./);
    }),
    { numRuns: 120 },
  );
});

Deno.test("regression: a captured request to an address that is no URL gets its verdict", () => {
  const lines = [
    "POST /hook HTTP/1.1",
    "host: [",
    `x-twilio-signature: ${"A".repeat(27)}=`,
    "",
    "x",
  ];
  const request = new TextEncoder().encode(lines.join("\r\n"));
  const { verifies } = verifyCaptured({ request, provider: "twilio", secrets: ["s"], nowMs: NOW });
  assert.equal(verifies, false);
});

Deno.test("regression: a captured request to half a character gets its verdict", () => {
  const lines = [
    "POST /hook HTTP/1.1",
    "host: relay.example.com",
    "x-contentful-timestamp: 1760000000000",
    "x-contentful-signed-headers: x-contentful-timestamp",
    `x-contentful-signature: ${"a".repeat(64)}`,
    "",
    "x",
  ];
  const request = new TextEncoder().encode(lines.join("\r\n"));
  const question = { request, provider: "contentful", secrets: ["a".repeat(64)], nowMs: NOW };
  assert.equal(verifyCaptured({ ...question, url: "\ud800" }).verifies, false);
});

const SENDER_SECRETS: Record<string, string> = Object.fromEntries(
  VECTORS.filter(({ valid }) => valid).map(({ provider, secret }) => [provider, secret]),
);

/** Header lines that any sender looks at, taken from the vectors and the handshakes. */
const LINES: [name: string, value: string][] = [
  ...VECTORS.flatMap(({ headers }) => Object.entries(headers)),
  ["authorization", "Basic dXNlcjpwYXNz"],
  ["content-type", "application/x-www-form-urlencoded"],
  ["x-hook-secret", "abc"],
  ["x-okta-verification-challenge", "abc"],
  ["x-amz-sns-message-type", "SubscriptionConfirmation"],
  ["twitch-eventsub-message-type", "webhook_callback_verification"],
  ["x-contentful-signed-headers", "x-a,content-type"],
];

const line = fc.constantFrom(...LINES).chain(([name, value]) => {
  const changed = fc.oneof(
    { weight: 2, arbitrary: fc.constant(value) },
    { weight: 1, arbitrary: fieldValues(value) },
  );
  return fc.tuple(fc.constant(name.toLowerCase()), changed);
});

const QUERIES = [
  ...[
    "challenge=a%20b",
    "validationToken=x",
    "hub.mode=subscribe&hub.verify_token=v&hub.challenge=1",
  ],
  ...["crc_token=t", "bodySHA256=00", "%", "a=%zz&&=b"],
];
const BODIES = [
  ...[
    '{"type":"url_verification","challenge":"c"}',
    '{"challenge":"c"}',
    "ssl_check=1",
    '{"type":1}',
  ],
  ...[
    '{"event":"endpoint.url_validation","payload":{"plainToken":"p"}}',
    '{"events":[]}',
    '{"type":0}',
  ],
  ...[
    '{"verification_token":"v"}',
    '{"TopicArn":"t","SubscribeURL":"https://sns.eu.amazonaws.com/"}',
    '{"SubscribeURL":"sns"}',
  ],
];

const head: fc.Arbitrary<RequestHead> = fc.record({
  method: fc.constantFrom("POST", "GET", "HEAD", "PUT"),
  path: fc.constantFrom("", "/x"),
  query: fieldValues(...QUERIES),
  headers: fc.array(line, { maxLength: 6 }),
}).map((head) => ({ ...head, url: `https://h.example/hook${head.path}?${encodeURI(head.query)}` }));

const body = fc.oneof(anyBody, near(...BODIES).map((text) => new TextEncoder().encode(text)));

for (const { name, unverified } of PRESETS) {
  const secret = unverified === undefined ? SENDER_SECRETS[name] : undefined;
  const sender = senderFor(endpointWith({ provider: name, secret, verifyToken: "v" }));

  Deno.test(`${name}: any request gets a verdict, an id and an answer that can be sent`, () => {
    fc.assert(
      fc.property(head, body, (head, body) => {
        const verdict = verdictOf(sender, head, body, NOW, 1_000);
        if (!verdict.ok) assert.match(verdict.detail, /^cannot verify request: ./);
        const id = sender.eventId(head, body);
        assert.ok(id === undefined || id !== "");
        assert.match(sender.fallbackId(head, "ab") ?? "0".repeat(64), /^[0-9a-f]{64}$/);
        for (
          const answer of [sender.handshakeHead(head, NOW), sender.handshakeBody(head, body, NOW)]
        ) {
          if (answer === undefined) continue;
          const { status, headers, body } = answer;
          new Response(body, {
            status,
            headers: headers.map(([name, value]): [string, string] => [name, value]),
          });
        }
      }),
      { numRuns: 40 },
    );
  });
}
