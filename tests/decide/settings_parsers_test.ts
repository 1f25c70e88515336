import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import { type Env, parseConfig } from "../../lib/config.ts";
import { MAX_DURATION_MS, parseDurationMs } from "../../lib/durations.ts";
import { endpointSchema } from "../../lib/endpoint.ts";
import { firstIdAt, isId } from "../../lib/ids.ts";
import { ladder, retrySchema } from "../../lib/retry_policy.ts";
import { customSignatureSchema } from "../../lib/signature_scheme.ts";
import { anyJson, anyText, near, someOf, texts } from "../helpers/arbitrary.ts";

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const isDuration = (ms: number) => Number.isSafeInteger(ms) && ms >= 0 && ms <= MAX_DURATION_MS;

Deno.test("parseDurationMs() gives whole milliseconds within bounds, or nothing", () => {
  const value = fc.oneof(
    texts("250ms", "10s", "999999999999d"),
    fc.double(),
    fc.maxSafeInteger(),
    fc.anything(),
  );
  fc.assert(fc.property(value, (given) => {
    const ms = parseDurationMs(given);
    assert.ok(ms === undefined || isDuration(ms), String(ms));
  }));
});

Deno.test("parseDurationMs() reads every number with every unit", () => {
  const unit = fc.constantFrom(...Object.entries(UNITS));
  fc.assert(fc.property(fc.nat(36_500), unit, (n, [name, factor]) => {
    assert.equal(parseDurationMs(`${n}${name}`), n * factor);
  }));
});

Deno.test("an accepted retry policy has nothing but waits", () => {
  const duration = fc.oneof(texts("5s", "6h"), fc.nat(), fc.constant(0), anyJson);
  const backoff = fc.record({
    first: duration,
    factor: fc.oneof(fc.double({ min: 1, max: 100 }), anyJson),
    cap: duration,
    attempts: fc.oneof(fc.integer({ min: 1, max: 1_000 }), anyJson),
    maxAge: duration,
    jitter: fc.double({ min: 0, max: 1 }),
  }, { requiredKeys: ["first"] });
  const steep = fc.record({
    first: fc.constantFrom(0, 1, "1ms"),
    factor: fc.constantFrom(2, 99.5, 100),
    attempts: fc.constantFrom(999, 1_000),
  });
  const written = fc.oneof(
    backoff,
    steep,
    fc.record({ schedule: fc.oneof(fc.array(duration), anyJson) }),
    texts("standard", "cold-start"),
    anyJson,
  );
  fc.assert(fc.property(written, (value) => {
    const result = retrySchema.safeParse(value);
    if (result.success) assert.deepEqual(result.data.delaysMs.filter((ms) => !isDuration(ms)), []);
  }));
});

Deno.test("regression: a back-off from nothing stays nothing, however often it grows", () => {
  const policy = { firstMs: 0, factor: 100, capMs: 60_000, attempts: 1_000, jitter: 0 };
  assert.deepEqual([...new Set(ladder(policy).delaysMs)], [0]);
});

Deno.test("any value is a signature scheme or is refused", () => {
  const scheme = fc.record({
    algorithm: fc.oneof(texts("hmac-sha256"), anyJson),
    signedContent: fc.oneof(texts("{timestamp}.{body}"), anyJson),
    signature: fc.oneof(texts("header:x-signature", "body:/signature"), anyJson),
    timestamp: fc.oneof(fc.record({ from: texts("item:t"), tolerance: texts("5m") }), anyJson),
    each: anyJson,
  }, { requiredKeys: [] });
  const written = fc.oneof(scheme, texts("hmac-sha256-hex", "token"), anyJson);
  fc.assert(fc.property(written, (value) => {
    const result = customSignatureSchema.safeParse(value);
    if (result.success) assert.match(result.data.type, /^(signature|token|basic)$/);
    else assert.notEqual(result.error.issues.length, 0);
  }));
});

/** Stands in every value, never in a name: no message may repeat it. */
const HUSH = "hush-hush";

const hushed = (value: unknown): unknown => {
  if (typeof value === "string") return value.startsWith("$env:") ? value : HUSH + value;
  if (Array.isArray(value)) return value.map(hushed);
  if (value === null || typeof value !== "object") return value;
  // An endpoint's id is how messages name it.
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, name === "id" ? inner : hushed(inner)]),
  );
};

const entry = fc.dictionary(
  fc.constantFrom(...Object.keys(endpointSchema.shape), "__proto__", "retires"),
  fc.oneof(
    anyJson,
    texts("10s", "https://h/in", "$env:NAME", "$env:", "$env:toString"),
    fc.constant({ a: {} }),
  ),
  { maxKeys: 8 },
);

const SETTINGS: Record<string, string> = {
  PORT: "8000",
  PUBLIC_URL: "https://relay.example",
  ALLOW_PRIVATE_TARGETS: "10.0.0.0/8,::1",
  SCHEDULER: "auto",
  CRON_MINUTES: "5",
  LEASE: "1m",
  LOG_LEVEL: "info",
  GITHUB_APP_ID: "12",
  GITHUB_APP_PRIVATE_KEY: "-----BEGIN RSA PRIVATE KEY-----",
  GITHUB_API_URL: "https://github.example/api/v3",
  GITHUB_WATCHDOG_GRACE: "2m",
  GITHUB_WATCHDOG_INTERVAL: "5m",
  OAUTH_PROVIDER: "github",
  OAUTH_ISSUER: "https://accounts.example",
  OAUTH_CLIENT_ID: "id",
  OAUTH_CLIENT_SECRET: "secret",
  ADMIN_USERS: "ann, id:7, bob@h.example",
  RELAY_TARGETS: "https://app.example.com, https://*.example.org/in/*",
  RELAY_GATE: "github",
  RELAY_TOKEN: "token",
  RELAY_PROVIDER: "github",
  RELAY_SECRET: "secret",
  ENDPOINTS: '[{"id":"demo","targetUrl":"http://127.0.0.1:9/","secret":"$env:NAME"}]',
};

const parse = (env: Env) =>
  parseConfig({ env, providers: new Set(["github"]), defaultHost: "127.0.0.1" });

Deno.test("parseConfig() takes any environment: a configuration, or sentences on what is wrong", () => {
  fc.assert(fc.property(someOf(SETTINGS), (env) => {
    const config = parse(env);
    if (!("faults" in config)) {
      assert.ok(config.port < 65_536 && isDuration(config.leaseMs));
      if (config.publicUrl !== undefined) {
        assert.equal(new URL(config.publicUrl).origin, config.publicUrl);
      }
      return;
    }
    assert.notEqual(config.faults.length, 0);
    for (const fault of config.faults) assert.match(fault, /^cannot [a-z]+:? [\s\S]+/);
  }));
});

Deno.test("parseConfig() takes any endpoints, and repeats no value of theirs", () => {
  const NAME = HUSH;
  fc.assert(fc.property(fc.array(fc.oneof(entry, anyJson), { maxLength: 3 }), (entries) => {
    const config = parse({ ENDPOINTS: JSON.stringify(hushed(entries)), NAME });
    const said = "faults" in config ? config.faults : config.warnings;
    assert.ok(!said.some((line) => line.includes(HUSH)), said.join("\n"));
  }));
});

Deno.test("parseConfig() repeats no value of a setting", () => {
  const names = fc.subarray(Object.keys(SETTINGS), { minLength: 1 });
  fc.assert(fc.property(names, anyText, (given, text) => {
    const config = parse(Object.fromEntries(given.map((name) => [name, HUSH + text])));
    const said = "faults" in config ? config.faults : config.warnings;
    assert.ok(!said.some((line) => line.includes(HUSH)), said.join("\n"));
  }));
});

for (const open of ["[", '[{"id":"a","headers":']) {
  Deno.test(`regression: endpoints of 100,000 times ${open} are refused in words`, () => {
    const depth = 100_000;
    const close = open === "[" ? "]" : "}]";
    const config = parse({ ENDPOINTS: open.repeat(depth) + "1" + close.repeat(depth) });
    assert.ok("faults" in config);
  });
}

Deno.test("regression: a variable by the name of an inherited property is not set", () => {
  const config = parse({ ENDPOINTS: '[{"id":"a","targetUrl":"$env:toString"}]' });
  assert.ok("faults" in config);
  assert.match(config.faults.join("\n"), /the variable toString, which is not set/);
});

Deno.test("isId() takes exactly what has the form of an id", () => {
  fc.assert(fc.property(texts("01JVA8Z6N3Q4T5W6X7Y8Z9A0BC"), (text) => {
    assert.equal(isId(text), /^[0-7][0-9A-Z]{25}$/.test(text) && !/[ILOU]/.test(text));
  }));
});

Deno.test("firstIdAt() gives ids in the order of their times, for every time that can be written", () => {
  const time = fc.date({ min: new Date(-1e12), max: new Date("9999-12-31T23:59:59.999Z") })
    .filter((date) => !Number.isNaN(date.getTime())).map((date) => date.getTime());
  fc.assert(fc.property(time, time, (one, other) => {
    const ids = [one, other].map(firstIdAt);
    assert.ok(ids.every(isId));
    const order = Math.sign(Math.max(0, one) - Math.max(0, other));
    assert.equal(ids[0] < ids[1] ? -1 : ids[0] > ids[1] ? 1 : 0, order);
  }));
});

Deno.test("near() changes a text, and leaves it alone at times", () => {
  const seen = new Set(fc.sample(near("10s"), 200).map((text) => text === "10s"));
  assert.equal(seen.size, 2);
});
