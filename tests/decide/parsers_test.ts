import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import { isGlobalUnicast, mayConnect } from "../../lib/decide/address.ts";
import { eventKey, idAtPath, readJson } from "../../lib/decide/event_id.ts";
import { hopsOf, receivedHeaders } from "../../lib/decide/headers.ts";
import { maskLocation } from "../../lib/decide/location.ts";
import { isAllowedTarget, shownTarget } from "../../lib/decide/relay_targets.ts";
import { parseRetryAfterMs } from "../../lib/decide/retry_after.ts";
import { attemptUrl, escapesTarget } from "../../lib/decide/target_url.ts";
import { LIMITS } from "../../lib/limits.ts";
import { parseTargetPattern } from "../../lib/relay_settings.ts";
import { anyBody, anyText, fieldValues, near, texts } from "../helpers/arbitrary.ts";

const NOW = Date.UTC(2026, 10, 30, 12);
/** Until the year 2100, as far as clocks of today may be wrong. */
const anyNow = fc.integer({ min: 0, max: Date.UTC(2100, 0) });

Deno.test("parseRetryAfterMs() gives a time ahead, within the cap, or nothing", () => {
  const header = texts(
    ...["120", "0", "Mon, 30 Nov 2026 12:00:05 GMT", "Monday, 30-Nov-26 12:00:05 GMT"],
    ...["Mon Nov 30 12:00:05 2026", "Tue Dec  1 12:00:00 2026"],
  );
  fc.assert(fc.property(header, anyNow, (text, nowMs) => {
    const atMs = parseRetryAfterMs(text, nowMs);
    if (atMs === undefined) return;
    assert.ok(atMs > nowMs && atMs <= nowMs + LIMITS.retryAfterCapMs);
  }));
});

Deno.test("parseRetryAfterMs() reads every date of HTTP's preferred form", () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: LIMITS.retryAfterCapMs / 1_000 }), (aheadS) => {
    const atMs = NOW + aheadS * 1_000;
    assert.equal(parseRetryAfterMs(new Date(atMs).toUTCString(), NOW), atMs);
    assert.equal(parseRetryAfterMs(String(aheadS), NOW), atMs);
  }));
});

const BLOCKS = ["10.0.0.0/8", "192.168.1.7", "fd00::/8", "::1", "::ffff:10.0.0.1/128"];
const ADDRESSES = ["10.1.2.3", "::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "fe80::1%1"];

Deno.test("mayConnect() takes any text for address and block, and allows no unreadable one", () => {
  fc.assert(fc.property(texts(...ADDRESSES), fc.array(texts(...BLOCKS)), (address, blocks) => {
    const isGlobal = isGlobalUnicast(address);
    assert.equal(mayConnect(address, []), isGlobal);
    if (!/^[0-9A-Fa-f.:]+$/.test(address)) assert.equal(mayConnect(address, blocks), false);
  }));
});

Deno.test("mayConnect() reads a block as its number of leading bits", () => {
  const privately = fc.integer({ min: 0x0a000000, max: 0x0affffff });
  const v4 = (n: number) => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join(".");
  fc.assert(fc.property(privately, privately, fc.nat(32), (base, given, bits) => {
    const mask = bits === 0 ? 0 : (~0 << (32 - bits)) >>> 0;
    const isIn = ((base & mask) >>> 0) === ((given & mask) >>> 0);
    const block = `${v4(base)}/${bits}`;
    assert.equal(mayConnect(v4(given), [block]), isIn);
    assert.equal(mayConnect(v4(base), [block]), true);
  }));
});

Deno.test("mayConnect() allows nothing by a block that is not written as one", () => {
  const ends = texts("8", "32", "0").filter((text) => !/^\d{1,3}$/.test(text));
  fc.assert(fc.property(ends, (end) => {
    assert.equal(mayConnect("10.1.2.3", [`10.0.0.0/${end}`]), false);
  }));
});

for (const block of ["10.0.0.0/", "192.0.2.0/ ", "10.0.0.0/0x0", "10.0.0.0/8/9", "10.0.0.0/1e0"]) {
  Deno.test(`regression: the block "${block}" allows nothing`, () => {
    assert.equal(mayConnect("10.1.2.3", [block]), false);
  });
}

for (const address of ["::ffff:010.0.0.1", "::ffff:0x10.0.0.1", "64:ff9b::8.8.8.010"]) {
  Deno.test(`regression: ${address} is read as no address`, () => {
    assert.equal(isGlobalUnicast(address), false);
    assert.equal(mayConnect(address, true), false);
  });
}

Deno.test("readJson() and idAtPath() take any bytes and any path", () => {
  fc.assert(fc.property(anyBody, texts("id", "event.id", "events.0.id"), (body, path) => {
    const id = idAtPath(body, path);
    if (id === undefined) return;
    assert.notEqual(readJson(body), undefined);
    assert.notEqual(id.trim(), "");
  }));
});

Deno.test("idAtPath() finds every text and number where it was put", () => {
  const name = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => !text.includes("."));
  const scalar = fc.oneof(
    anyText.filter((text) => text.trim() !== ""),
    fc.bigInt().map(String).map((source) => ({ source })),
  );
  fc.assert(fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), scalar, (path, value) => {
    const written = typeof value === "string" ? JSON.stringify(value) : value.source;
    const body = path.reduceRight((json, step) => `{${JSON.stringify(step)}:${json}}`, written);
    const expected = typeof value === "string" ? value : value.source;
    assert.equal(idAtPath(new TextEncoder().encode(body), path.join(".")), expected);
  }));
});

Deno.test("eventKey() gives well-formed keys within the limit, and keeps distinct ids distinct", () => {
  const id = fc.oneof(
    texts("sha256:" + "a".repeat(64), "evt_1"),
    near("a".repeat(LIMITS.eventIdBytes), "é".repeat(LIMITS.eventIdBytes / 2)),
  );
  fc.assert(fc.property(id, id, (one, other) => {
    const key = eventKey(one);
    assert.ok(key.isWellFormed());
    assert.ok(new TextEncoder().encode(key).length <= LIMITS.eventIdBytes);
    assert.equal(key === eventKey(other), one === other);
  }));
});

Deno.test("hopsOf() counts any value, and one that is no number as too many", () => {
  fc.assert(fc.property(fc.array(fieldValues("3", "0", "1, 2"), { maxLength: 3 }), (values) => {
    const hops = hopsOf(values.map((value) => ["holdfast-hops", value]));
    assert.ok(Number.isInteger(hops) && hops >= 0 && hops <= 999_999);
    if (values.some((value) => !/^[\d, \t]*$/.test(value.trim()))) assert.ok(hops > LIMITS.hops);
  }));
});

Deno.test("receivedHeaders() adds its lines once, whatever came", () => {
  const name = fc.constantFrom("connection", "x-forwarded-for", "x-forwarded-proto", "x-a");
  const value = fieldValues("close, X-A", "203.0.113.9, 10.0.0.1", "https");
  const peer = { peerAddress: "::1", host: "relay.example", proto: "https" } as const;
  fc.assert(fc.property(fc.array(fc.tuple(name, value), { maxLength: 6 }), (lines) => {
    const headers = receivedHeaders(lines, peer);
    const all = (wanted: string) => headers.filter(([name]) => name === wanted);
    assert.equal(all("connection").length, 0);
    assert.equal(all("x-forwarded-for").length, 1);
    assert.ok(all("x-forwarded-for")[0][1].endsWith("::1"));
    assert.deepEqual(all("x-forwarded-proto"), [["x-forwarded-proto", "https"]]);
  }));
});

Deno.test("maskLocation() shows no query, no credentials and no part of the target's path", () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9]{8}$/);
  const around = texts("https://h.example/in/", "/", "../x", "//h/");
  fc.assert(fc.property(secret, around, (token, text) => {
    const target = `https://app.example/hooks/${token}`;
    const free = text.includes(token) ? "" : text.split(/[?#]/, 1)[0].slice(0, 100);
    const shown = [
      maskLocation(`${free}/${token}/x`, target),
      maskLocation(`${free}?t=${token}`, target),
      maskLocation(`${free}#${token}`, target),
      maskLocation(`https://u:${token}@h.example/x`, target),
    ];
    for (const one of shown) {
      assert.doesNotMatch(one, new RegExp(token));
      assert.match(one, /^[\x20-\x7e…]{0,200}$/);
    }
  }));
});

/** What an HTTP request line can hold: visible ASCII. */
const rest = fc.oneof(
  near("/a/../b", "/%2e%2e/x", "/..;p/y", "/a//..//b", "/..%2f", "/\\..\\"),
  fc.array(fc.constantFrom("/", "..", ".", "%2e", "%2E", "a", ";x", "\\", "%2f", "%5c", "//"), {
    maxLength: 8,
  }).map((parts) => parts.join("")),
).map((text) => "/" + text.replace(/[^\x21-\x7e]|[?#]/g, ""));

Deno.test("what escapesTarget() lets pass stays below the target's path, as a URL parser reads it", () => {
  fc.assert(fc.property(rest, (path) => {
    if (escapesTarget(path)) return;
    const base = "https://app.example/hooks/in";
    const { pathname } = new URL(base + path);
    assert.ok(pathname.startsWith("/hooks/in"), `${path} becomes ${pathname}`);
  }));
});

Deno.test("attemptUrl() never leaves the target's origin, and appends what came byte by byte", () => {
  const bare = rest.map((path) => path.replaceAll("?", ""));
  const query = fieldValues("a=1&b=%20").map((text) => text.replace(/[^\x21-\x7e]/g, ""));
  const forwarding = { forwardPath: true, forwardQuery: true };
  fc.assert(fc.property(bare, query, (path, search) => {
    const url = attemptUrl("https://app.example/hooks?k=1", path, search, forwarding);
    assert.equal(url.origin, "https://app.example");
    assert.equal(url.path, `/hooks${path}?k=1${search === "" ? "" : `&${search}`}`);
  }));
});

const PATTERNS = [
  "https://app.example.com",
  "https://*.hooks.example.com/in/*",
  "http://10.1.2.3:80/h",
  "https://app.example.com/a/../b c",
];

Deno.test("parseTargetPattern() takes any text, and what it reads is in normal form", () => {
  fc.assert(fc.property(texts(...PATTERNS), (text) => {
    const pattern = parseTargetPattern(text);
    if (typeof pattern === "string") return assert.match(pattern, /^(is|has) /);
    const { protocol, hostname, port, path } = pattern;
    const url = `${protocol}//${hostname}${port === "" ? "" : `:${port}`}${path}`;
    assert.equal(new URL(url).href, url);
    if (!pattern.anySubdomain) assert.ok(isAllowedTarget(url, [pattern]), url);
  }));
});

Deno.test("isAllowedTarget() lets only what a URL parser reads as below the pattern pass", () => {
  const targets = texts(
    ...["https://app.example.com/hooks/x?t=a%20b", "https://a.in.example.com/hooks/"],
    ...["https://app.example.com:443/hooks", "https://u@app.example.com/hooks/../x"],
  );
  const patterns = ["https://app.example.com/hooks/*", "https://*.in.example.com/hooks"]
    .map(parseTargetPattern).filter((pattern) => typeof pattern !== "string");
  fc.assert(fc.property(targets, (text) => {
    if (!isAllowedTarget(text, patterns)) return;
    const url = new URL(text);
    assert.match(url.hostname, /^app\.example\.com$|^[a-z0-9._-]+\.in\.example\.com$/);
    assert.ok(url.pathname.startsWith("/hooks") && url.protocol === "https:");
    assert.deepEqual([url.username, url.password, url.port, url.hash], ["", "", "", ""]);
    const place = text.split("?", 1)[0];
    assert.ok([url.origin, url.origin + url.pathname].includes(place), `${text} is ${url.href}`);
    assert.ok(!shownTarget(text).includes("?"));
  }));
});
