import assert from "node:assert/strict";
import { parseRetryAfterMs } from "../../lib/decide/retry_after.ts";

const NOW = Date.UTC(2026, 10, 30, 12, 0, 0);
const IN_5_S = NOW + 5_000;
const CAP = NOW + 6 * 3_600_000;

const TABLE: [header: string | undefined, expected: number | undefined][] = [
  [undefined, undefined],
  ["120", NOW + 120_000],
  [" 5\t", IN_5_S],
  ["0", undefined],
  ["21600", CAP],
  ["21601", CAP],
  ["99999999999", CAP],
  ["9".repeat(400), CAP],
  ["Mon, 30 Nov 2026 12:00:05 GMT", IN_5_S],
  ["Monday, 30-Nov-26 12:00:05 GMT", IN_5_S],
  ["Mon Nov 30 12:00:05 2026", IN_5_S],
  ["Tue Dec  1 12:00:00 2026", CAP],
  ["Mon, 30 Nov 2026 12:00:60 GMT", NOW + 60_000],
  ["Fri, 31 Dec 9999 23:59:59 GMT", CAP],
  // Not ahead of us: binds nothing.
  ["Wed, 21 Oct 2015 07:28:00 GMT", undefined],
  ["Sunday, 06-Nov-94 08:49:37 GMT", undefined],
  ["Mon, 30 Nov 2026 12:00:00 GMT", undefined],
  // Unreadable means absent.
  ...["", " ", "-5", "+3", "1.5", "1e3", "0x10", "tomorrow", "5s", "120, 120", "NaN", "Infinity"]
    .map((text): [string, undefined] => [text, undefined]),
  ...[
    "Mon, 30 Nov 2026 12:00:05",
    "Mon, 30 Nov 2026 12:00:05 UTC",
    "mon, 30 nov 2026 12:00:05 gmt",
    "Mon, 31 Nov 2026 12:00:05 GMT",
    "Mon, 00 Nov 2026 12:00:05 GMT",
    "Mon, 30 Nov 2026 24:00:05 GMT",
    "Mon, 30 Nov 2026 12:60:05 GMT",
    "Mon, 1 Dec 2026 12:00:05 GMT",
    "2026-11-30T12:00:05Z",
    "Nov 30 2026",
  ].map((text): [string, undefined] => [text, undefined]),
];

for (const [header, expected] of TABLE) {
  const shown = header === undefined ? "no header" : JSON.stringify(header.slice(0, 40));
  Deno.test(`parseRetryAfterMs() reads ${shown} as ${expected ?? "nothing"}`, () => {
    assert.equal(parseRetryAfterMs(header, NOW), expected);
  });
}

Deno.test("parseRetryAfterMs() reads a two-digit year within the next 50 years", () => {
  assert.equal(parseRetryAfterMs("Monday, 30-Nov-76 12:00:00 GMT", NOW), CAP);
  assert.equal(parseRetryAfterMs("Tuesday, 30-Nov-77 12:00:00 GMT", NOW), undefined);
});
