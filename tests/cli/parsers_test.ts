import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import { InvalidArgumentError } from "commander";
import { headerLine, headerValue } from "../../lib/cli/commands/send.ts";
import { apiFilters } from "../../lib/cli/filters.ts";
import { Failure } from "../../lib/cli/exit.ts";
import { wholeNumber } from "../../lib/cli/listing.ts";
import { clipped, safe, safeLines } from "../../lib/cli/text.ts";
import { instant, relative } from "../../lib/cli/time.ts";
import { anyText, texts } from "../helpers/arbitrary.ts";

const NOW = Date.UTC(2026, 10, 30, 12);

/** What `read` gives, or `undefined` where it refuses in words. */
function given<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidArgumentError || error instanceof Failure) return undefined;
    throw error;
  }
}

const time = texts("2h", "3d", "2026-05-14", "2026-05-14T09:30:00+02:00", "999999999999d");

Deno.test("instant() takes any text: a time that the API reads, or nothing", () => {
  fc.assert(fc.property(time, (text) => {
    const iso = instant(text, NOW);
    if (iso === undefined) return;
    assert.equal(new Date(iso).toISOString(), iso);
    relative(iso, NOW);
  }));
});

Deno.test("apiFilters() takes any words, and refuses a time that is none", () => {
  fc.assert(fc.property(time, time, anyText, (since, until, endpoint) => {
    const filters = given(() => apiFilters({ since, until, endpoint }, NOW));
    assert.equal(filters === undefined, !instant(since, NOW) || !instant(until, NOW));
    if (filters !== undefined) assert.equal(filters.endpoint, endpoint);
  }));
});

Deno.test("wholeNumber() takes any text: a whole number from 1 on, or a refusal", () => {
  fc.assert(fc.property(texts("50", "1e3", "007"), (text) => {
    const n = given(() => wholeNumber(text));
    if (n !== undefined) assert.ok(Number.isSafeInteger(n) && n >= 1 && String(n) === text);
  }));
  fc.assert(fc.property(fc.integer({ min: 1, max: 999_999_999 }), (n) => {
    assert.equal(wholeNumber(String(n)), n);
  }));
});

Deno.test("headerLine() takes any text: a header that can be sent, or a refusal", () => {
  fc.assert(fc.property(texts("x-event: push", "a:b", "X-A:  é"), (text) => {
    const header = given(() => headerLine(text));
    if (header !== undefined) new Headers([header]);
  }));
});

Deno.test("regression: a header with a character beyond Latin-1 is refused", () => {
  assert.equal(given(() => headerLine("x-name: ✓")), undefined);
  assert.equal(given(() => headerValue("evt_✓")), undefined);
});

// deno-lint-ignore no-control-regex
const STEERING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

Deno.test("safe() and safeLines() leave nothing that steers a terminal", () => {
  fc.assert(
    fc.property(
      texts("a\u001b[2Jb", "x\n\ty", "\u009b31m\u202e"),
      fc.integer({ min: 1, max: 50 }),
      (text, n) => {
        assert.doesNotMatch(safe(text), STEERING);
        assert.doesNotMatch(safeLines(text).replace(/[\n\t]/g, ""), STEERING);
        assert.ok(clipped(safe(text), n).length <= n);
      },
    ),
  );
});
