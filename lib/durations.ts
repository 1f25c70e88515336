const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Reads a duration: a whole number of milliseconds, or text such as `250ms`, `10s`,
 * `5m`, `6h`, `3d`. Returns milliseconds, or `undefined` for anything else.
 */
export function parseDurationMs(value: unknown): number | undefined {
  if (typeof value === "number") {
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  }
  if (typeof value !== "string") return undefined;
  const match = /^(\d{1,12})(ms|s|m|h|d)?$/.exec(value);
  if (match === null) return undefined;
  const unit = (match[2] ?? "ms") as keyof typeof UNITS_MS;
  return Number(match[1]) * UNITS_MS[unit];
}
