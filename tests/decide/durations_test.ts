import assert from "node:assert/strict";
import { MAX_DURATION_MS, parseDurationMs } from "../../lib/durations.ts";

const TABLE: [value: unknown, ms: number | undefined][] = [
  [0, 0],
  ["0", 0],
  [250, 250],
  ["250", 250],
  ["250ms", 250],
  ["10s", 10_000],
  ["5m", 300_000],
  ["6h", 21_600_000],
  ["3d", 259_200_000],
  ["36500d", MAX_DURATION_MS],
  [MAX_DURATION_MS, MAX_DURATION_MS],
  ["36501d", undefined],
  [MAX_DURATION_MS + 1, undefined],
  ["999999999999d", undefined],
  ["9007199254740991", undefined],
  ["9".repeat(400), undefined],
  [Number.MAX_SAFE_INTEGER, undefined],
];

const NONE = [
  ...[-1, 1.5, NaN, Infinity, null, undefined, true, ["5s"], { ms: 5 }, "", " 5s", "5 s", "5S"],
  ...["-5s", "+5s", "1.5s", "1e3", "0x10", "5w", "s"],
];

for (const [value, ms] of [...TABLE, ...NONE.map((value) => [value, undefined] as const)]) {
  const shown = typeof value === "number" ? value : JSON.stringify(value)?.slice(0, 30);
  Deno.test(`parseDurationMs() reads ${shown} as ${ms ?? "nothing"}`, () => {
    assert.equal(parseDurationMs(value), ms);
  });
}

Deno.test("the longest duration before and after today is still a time that can be shown", () => {
  for (const sign of [-1, 1]) new Date(Date.now() + sign * MAX_DURATION_MS).toISOString();
});
