import { parseDurationMs } from "../durations.ts";

const SECOND_MS = 1_000;
const UNITS = [
  [86_400 * SECOND_MS, "d"],
  [3_600 * SECOND_MS, "h"],
  [60 * SECOND_MS, "m"],
  [SECOND_MS, "s"],
] as const;

/** A span of time in its largest unit: `45s`, `3m`, `2d`. */
export function span(ms: number): string {
  for (const [unitMs, name] of UNITS) if (ms >= unitMs) return `${Math.floor(ms / unitMs)}${name}`;
  return `${Math.round(ms)}ms`;
}

/** How long ago, or how soon, a time of the API is. */
export function relative(iso: string, nowMs: number): string {
  const ms = Date.parse(iso) - nowMs;
  return ms > 0 ? `in ${span(ms)}` : `${span(-ms)} ago`;
}

/**
 * A time from the command line as the API wants it: an ISO 8601 time as it is, a duration
 * (`2h`, `3d`) as that long before now. `undefined` for anything else.
 */
export function instant(text: string, nowMs: number): string | undefined {
  const agoMs = /[a-z]$/.test(text) ? parseDurationMs(text) : undefined;
  if (agoMs !== undefined) return new Date(nowMs - agoMs).toISOString();
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
