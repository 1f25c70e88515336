const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * A hundred years. So long after any time there is a time that a `Date` can hold and that the
 * store takes as an expiry; far beyond, records could not be shown and commits would fail.
 */
export const MAX_DURATION_MS = 36_500 * UNITS_MS.d;

/**
 * Reads a duration: a whole number of milliseconds, or text such as `250ms`, `10s`,
 * `5m`, `6h`, `3d`, up to `MAX_DURATION_MS`. Returns milliseconds, or `undefined` for
 * anything else.
 */
export function parseDurationMs(value: unknown): number | undefined {
  const ms = typeof value === "number" ? value : typeof value === "string" ? textMs(value) : NaN;
  return Number.isSafeInteger(ms) && ms >= 0 && ms <= MAX_DURATION_MS ? ms : undefined;
}

function textMs(text: string): number {
  const [, digits, unit = "ms"] = /^(\d{1,16})(ms|s|m|h|d)?$/.exec(text) ?? [];
  return digits === undefined ? NaN : Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS];
}
