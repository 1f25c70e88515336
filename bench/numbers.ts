/** The value that `share` (0 to 1) of the sorted values do not exceed; `NaN` without values. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return NaN;
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

export interface Spread {
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

/** Median, 99th percentile and maximum of durations in milliseconds. */
export function spreadOf(durationsMs: readonly number[]): Spread {
  const sorted = Float64Array.from(durationsMs).sort();
  return {
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    maxMs: quantile(sorted, 1),
  };
}

export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The median of each field over several samples of one kind. */
export function medians<T extends Record<string, number>>(samples: readonly T[]): T {
  const fields = Object.keys(samples[0]).map((name) => [
    name,
    median(samples.map((sample) => sample[name])),
  ]);
  return Object.fromEntries(fields);
}

/** A number as a table shows it: three significant digits, thousands apart, `–` for none. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const rounded = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  return rounded.toLocaleString("en-US", { maximumFractionDigits: 6 });
}

/** A body size as it is usually written. */
export function shownBytes(bytes: number): string {
  if (bytes >= 1_000_000) return `${bytes / 1_000_000} MB`;
  return bytes >= 1_000 ? `${bytes / 1_000} KB` : `${bytes} B`;
}

/** Epoch milliseconds with fractions, comparable between processes of one machine. */
export function epochMs(): number {
  return performance.timeOrigin + performance.now();
}
