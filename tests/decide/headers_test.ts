import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import {
  attemptHeaders,
  headerBytes,
  headerSafe,
  hopsOf,
  receivedHeaders,
} from "../../lib/decide/headers.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { HeaderList } from "../../lib/model.ts";

const PEER = { peerAddress: "198.51.100.7", host: "relay.example", proto: "https" } as const;
const ADDED = 3;

const received = (...headers: [string, string][]) => receivedHeaders(headers, PEER);
const kept = (...headers: [string, string][]) => received(...headers).slice(0, -ADDED);
const lines = (headers: HeaderList, wanted: string) =>
  headers.filter(([name]) => name === wanted).map(([, value]) => value);

const MARKS = {
  deliveryId: "01J0000000000000000000000A",
  eventId: "evt_1",
  attempt: 2,
  acceptedAtMs: Date.UTC(2026, 10, 30, 12),
  replay: 0,
  configured: {},
};

Deno.test("receivedHeaders() drops what describes the connection, and what it names", () => {
  const headers: [string, string][] = [
    ["connection", "keep-alive, X-Hop"],
    ["x-hop", "1"],
    ["keep-alive", "timeout=5"],
    ["te", "trailers"],
    ["trailer", "x-trail"],
    ["transfer-encoding", "chunked"],
    ["upgrade", "h2c"],
    ["proxy-connection", "keep-alive"],
    ["proxy-authorization", "Basic eA=="],
    ["proxy-authenticate", "Basic"],
    ["x-kept", "yes"],
  ];
  assert.deepEqual(kept(...headers), [["x-kept", "yes"]]);
});

Deno.test("receivedHeaders() drops framing, addressing and the marks of proxies", () => {
  const names = [
    ...["host", "content-length", "accept-encoding", "expect", "x-forward-to", "cf-ray"],
    ...["cf-connecting-ip", "x-deno-region", "holdfast-attempt", "holdfast-signature"],
  ];
  assert.deepEqual(kept(...names.map((name): [string, string] => [name, "x"])), []);
});

Deno.test("receivedHeaders() keeps end-to-end fields that Connection names against the rule", () => {
  const headers: [string, string][] = [
    ["content-type", "application/json"],
    ["content-encoding", "gzip"],
    ["x-hub-signature-256", "sha256=ab"],
    ["stripe-signature", "t=1"],
    ["webhook-id", "m1"],
    ["authorization", "Bearer x"],
  ];
  const connection: [string, string] = ["connection", headers.map(([name]) => name).join(",")];
  assert.deepEqual(kept(connection, ...headers), headers);
});

Deno.test("receivedHeaders() keeps repeated lines, order, empty values and Latin-1 bytes", () => {
  const headers: [string, string][] = [
    ["x-tag", "one"],
    ["cookie", "a=1"],
    ["x-tag", "two"],
    ["x-tag", "a,b"],
    ["cookie", "b=2"],
    ["x-empty", ""],
    ["x-l", "caf\xe9"],
  ];
  assert.deepEqual(kept(...headers), headers);
});

Deno.test("receivedHeaders() appends the peer to one x-forwarded-for line", () => {
  const headers = received(
    ["x-forwarded-for", "203.0.113.9"],
    ["x-forwarded-for", "203.0.113.10, 10.0.0.1"],
    ["x-forwarded-for", ""],
  );
  const chain = "203.0.113.9, 203.0.113.10, 10.0.0.1, 198.51.100.7";
  assert.deepEqual(lines(headers, "x-forwarded-for"), [chain]);
});

for (
  const [peerAddress, expected] of [
    ["[2001:db8::1]", "2001:db8::1"],
    ["::1", "::1"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["::FFFF:203.0.113.9", "203.0.113.9"],
    ["::ffff:cb00:7109", "::ffff:cb00:7109"],
  ]
) {
  Deno.test(`receivedHeaders() writes the peer ${peerAddress} as ${expected}`, () => {
    const headers = receivedHeaders([], { ...PEER, peerAddress });
    assert.deepEqual(lines(headers, "x-forwarded-for"), [expected]);
  });
}

Deno.test("receivedHeaders() replaces the sender's word on host and scheme", () => {
  const headers = received(["x-forwarded-proto", "ftp"], ["x-forwarded-host", "evil.example"]);
  assert.deepEqual(lines(headers, "x-forwarded-proto"), ["https"]);
  assert.deepEqual(lines(headers, "x-forwarded-host"), ["relay.example"]);
});

Deno.test("receivedHeaders() sends no x-forwarded-host where the host is unknown", () => {
  const headers = receivedHeaders([["x-forwarded-host", "evil.example"]], {
    peerAddress: "::1",
    proto: "http",
  });
  assert.deepEqual(lines(headers, "x-forwarded-host"), []);
});

Deno.test("receivedHeaders() keeps the number of hops as one line of its own", () => {
  const headers = received(["holdfast-hops", "1"], ["holdfast-hops", "2"]);
  assert.deepEqual(lines(headers, "holdfast-hops"), ["2"]);
});

const OVER = LIMITS.hops + 1;
const HOPS: [string[], number][] = [
  [[], 0],
  [["0"], 0],
  [["3"], 3],
  [["0", "0"], 0],
  [["0", "4"], 4],
  [["4, 0"], 4],
  [["-5"], OVER],
  [["1", "x"], OVER],
  [[""], OVER],
  [["1e1"], OVER],
  [["9".repeat(99)], OVER],
  [["7", "junk"], 7],
];

for (const [values, expected] of HOPS) {
  Deno.test(`hopsOf() counts ${JSON.stringify(values)} as ${expected}`, () => {
    assert.equal(hopsOf(values.map((value) => ["holdfast-hops", value])), expected);
  });
}

Deno.test("hopsOf() grows with every relay of a ring, whatever the sender forged", () => {
  let headers: HeaderList = [["holdfast-hops", "0"], ["holdfast-hops", "0"]];
  let relays = 0;
  while (hopsOf(headers) <= LIMITS.hops) {
    headers = attemptHeaders(receivedHeaders(headers, PEER), MARKS);
    relays++;
  }
  assert.equal(relays, LIMITS.hops + 1);
});

Deno.test("attemptHeaders() adds our own lines", () => {
  assert.deepEqual(attemptHeaders([["x-a", "1"]], MARKS), [
    ["x-a", "1"],
    ["holdfast-delivery-id", "01J0000000000000000000000A"],
    ["holdfast-event-id", "evt_1"],
    ["holdfast-attempt", "2"],
    ["holdfast-accepted-at", "2026-11-30T12:00:00.000Z"],
    ["holdfast-hops", "1"],
  ]);
});

Deno.test("attemptHeaders() marks replays", () => {
  const headers = attemptHeaders([], { ...MARKS, replay: 2 });
  assert.deepEqual(lines(headers, "holdfast-replay"), ["2"]);
});

Deno.test("attemptHeaders() lets the endpoint's headers override all lines of that name", () => {
  const stored: HeaderList = [["x-a", "1"], ["x-b", "2"], ["x-a", "3"]];
  const headers = attemptHeaders(stored, { ...MARKS, configured: { "X-A": "ours" } });
  assert.deepEqual(headers.slice(0, 2), [["x-b", "2"], ["x-a", "ours"]]);
});

Deno.test("attemptHeaders() lets nobody override the relay's own lines", () => {
  const configured = { "Holdfast-Hops": "0", "holdfast-attempt": "9" };
  const headers = attemptHeaders([["holdfast-hops", "2"]], { ...MARKS, configured });
  assert.deepEqual(lines(headers, "holdfast-hops"), ["3"]);
  assert.deepEqual(lines(headers, "holdfast-attempt"), ["2"]);
});

Deno.test("attemptHeaders() takes a configured Host but no framing", () => {
  const configured = { Host: "app.internal", "Content-Length": "3", "Transfer-Encoding": "x" };
  const headers = attemptHeaders([], { ...MARKS, configured });
  const names = headers.map(([name]) => name).filter((name) => !name.startsWith("holdfast-"));
  assert.deepEqual(names, ["host"]);
});

const SAFE: [string, string][] = [
  ["evt_1", "evt_1"],
  ["", ""],
  ["a b%20c", "a b%20c"],
  ["\xe9vt-1", "%C3%A9vt-1"],
  [" lead", "%20lead"],
  ["a\r\nx: y", "a%0D%0Ax:%20y"],
  ["50%\n", "50%25%0A"],
  ["✓", "%E2%9C%93"],
];

for (const [text, expected] of SAFE) {
  Deno.test(`headerSafe() writes ${JSON.stringify(text)} as ${expected}`, () => {
    assert.equal(headerSafe(text), expected);
  });
}

Deno.test("headerSafe() gives visible ASCII that decodes to the text it encoded", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    const safe = headerSafe(text);
    assert.match(safe, /^[\x20-\x7e]*$/);
    if (safe !== text) assert.equal(decodeURIComponent(safe), text);
  }));
});

Deno.test("headerBytes() counts names, values, colon, space and line break", () => {
  assert.equal(headerBytes([["ab", "cde"], ["x", ""]]), 9 + 5);
});
