import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import { breakerResult, GITHUB_BREAKER, troubleOf } from "../../lib/decide/github/answer.ts";
import { driftsOf, readSetup } from "../../lib/decide/github/drift.ts";
import { clockSkewMs, nextCursor, readHistory } from "../../lib/decide/github/history.ts";
import { anyJson, fieldValues, texts } from "../helpers/arbitrary.ts";

const NOW = Date.UTC(2026, 10, 30, 12);
const DATE = "Mon, 30 Nov 2026 12:00:05 GMT";

/** An object with some of the fields that are looked for, each of any kind. */
const objectWith = (...names: string[]) =>
  fc.dictionary(fc.constantFrom(...names), fc.oneof(anyJson, texts("2026-11-30T12:00:00Z")));

const row = fc.oneof(
  anyJson,
  objectWith("id", "guid", "delivered_at", "event", "action", "status_code"),
  fc.record({
    id: fc.oneof(fc.nat(), fc.bigInt(), fc.string()),
    guid: fc.oneof(fc.uuid(), fc.constant("")),
    delivered_at: texts("2026-11-30T12:00:00Z"),
    event: anyJson,
    status_code: anyJson,
  }),
);

Deno.test("readHistory() takes any answer, and keeps only rows with an id, a GUID and a time", () => {
  const answer = fc.oneof(anyJson, fc.array(row));
  fc.assert(fc.property(answer, fc.integer(), (data, skewMs) => {
    const rows = readHistory(data, skewMs);
    assert.equal(rows === undefined, !Array.isArray(data));
    for (const { id, guid, deliveredAtMs, event, statusCode } of rows ?? []) {
      assert.deepEqual([typeof id, typeof event, typeof statusCode], [
        "string",
        "string",
        "number",
      ]);
      assert.notEqual(guid, "");
      assert.ok(Number.isFinite(deliveredAtMs));
    }
  }));
});

Deno.test("regression: a row whose time is an object without text is left out", () => {
  const bad = { id: 1, guid: "g", delivered_at: { toString: null, valueOf: null } };
  const good = { id: 2, guid: "h", delivered_at: "2026-11-30T12:00:00Z" };
  assert.deepEqual(readHistory([bad, good], 0)?.map(({ guid }) => guid), ["h"]);
});

Deno.test("nextCursor() takes any Link header, and finds the cursor of the next page", () => {
  const links = fieldValues(
    '<https://api.github.com/x?per_page=100&cursor=v1_1>; rel="next"',
    '<https://h/x>; rel="prev", <https://h/x?cursor=v1_2>; rel="next"',
  );
  fc.assert(fc.property(links, (link) => {
    const cursor = nextCursor(link);
    if (cursor !== undefined) assert.ok(/<[^<>]+>/.test(link));
  }));
  fc.assert(fc.property(fc.string({ unit: "binary", minLength: 1 }), (cursor) => {
    const url = `https://api.github.com/x?${new URLSearchParams({ per_page: "100", cursor })}`;
    assert.equal(nextCursor(`<${url}&first>; rel="prev", <${url}>; rel="next"`), cursor);
  }));
});

Deno.test("readSetup() takes any answers, and driftsOf() has words for each", () => {
  const config = objectWith("url", "content_type", "secret", "insecure_ssl");
  const hook = fc.oneof(
    anyJson,
    fc.record({ config: fc.oneof(config, anyJson), events: anyJson, active: anyJson }),
  );
  const app = fc.oneof(
    fc.constant(undefined),
    anyJson,
    fc.record({ events: fc.array(anyJson), permissions: anyJson }),
  );
  const expected = { endpoint: "github", publicUrl: "https://r.example", events: ["push", "meta"] };
  fc.assert(fc.property(hook, app, (one, other) => {
    for (const { detail } of driftsOf(expected, readSetup(one, other))) {
      assert.match(detail, /^the [\s\S]+$/);
    }
  }));
});

Deno.test("regression: an event that has no text is no event", () => {
  const app = { events: [{ toString: null, valueOf: null }, "push"] };
  assert.deepEqual(readSetup({}, app).events, ["push"]);
});

Deno.test("clockSkewMs() is a number for any Date header", () => {
  fc.assert(fc.property(fieldValues(DATE), (date) => {
    assert.ok(Number.isFinite(clockSkewMs(date, NOW)));
  }));
});

Deno.test("breakerResult() waits for a rate limit between the breaker's bounds, whatever is told", () => {
  const headers = fc.record({
    "retry-after": fieldValues("60", DATE),
    "x-ratelimit-remaining": fc.constantFrom("0", "1", ""),
    "x-ratelimit-reset": fieldValues(String(NOW / 1_000 + 60)),
    "date": fieldValues(DATE),
  }, { requiredKeys: [] });
  const status = fc.constantFrom(200, 401, 403, 404, 429, 500, 503);
  const data = fc.oneof(anyJson, fc.constant({ message: "You have exceeded a rate limit" }));
  fc.assert(fc.property(fc.record({ status, headers, data }), (answer) => {
    assert.equal(troubleOf(answer) === undefined, answer.status < 400);
    const result = breakerResult(answer, NOW);
    const retryAtMs = "retryAtMs" in result ? result.retryAtMs : undefined;
    if (retryAtMs === undefined) return assert.notEqual(answer.status, 429);
    const waitMs = retryAtMs - NOW;
    assert.ok(waitMs >= GITHUB_BREAKER.openMs && waitMs <= GITHUB_BREAKER.capMs);
  }));
});
