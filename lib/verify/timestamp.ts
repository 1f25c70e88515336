import type { TimestampRule } from "../signature_scheme.ts";
import { sourceName } from "./request_view.ts";
import { type Refusal, refuse } from "./verdict.ts";

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/**
 * Reads a timestamp's text as milliseconds since 1970. Numbers are digits only (no sign,
 * fraction or exponent, so that NaN cannot pass a comparison); else `undefined`.
 */
export function readTimestampMs(text: string, unit: TimestampRule["unit"]): number | undefined {
  if (unit === "rfc3339") {
    const ms = RFC3339.test(text) ? Date.parse(text) : NaN;
    return Number.isNaN(ms) ? undefined : ms;
  }
  if (!/^\d{1,15}$/.test(text)) return undefined;
  return unit === "s" ? Number(text) * 1_000 : Number(text);
}

/** Writes a time in a rule's unit, as the sender would. */
export function writeTimestamp(atMs: number, unit: TimestampRule["unit"]): string {
  if (unit === "rfc3339") return new Date(atMs).toISOString();
  return String(unit === "s" ? Math.floor(atMs / 1_000) : atMs);
}

/** Why a timestamp is refused now; `undefined` where it is within the tolerance. */
export function timestampFault(
  text: string,
  rule: TimestampRule,
  nowMs: number,
): Refusal | undefined {
  const atMs = readTimestampMs(text, rule.unit);
  const name = sourceName(rule.from[0]);
  if (atMs === undefined) {
    return refuse("malformed_timestamp", `${name} is not a time (${rule.unit})`);
  }
  if (rule.toleranceMs === undefined) return undefined;
  // Senders that count seconds compare whole seconds.
  const now = rule.unit === "s" ? Math.floor(nowMs / 1_000) * 1_000 : nowMs;
  const ageMs = now - atMs;
  const limit = `${rule.toleranceMs / 1_000} s are allowed`;
  if (rule.exclusive ? ageMs >= rule.toleranceMs : ageMs > rule.toleranceMs) {
    return refuse("expired_timestamp", `${name} is ${Math.ceil(ageMs / 1_000)} s old, ${limit}`);
  }
  if (-ageMs > rule.toleranceMs) {
    const ahead = Math.ceil(-ageMs / 1_000);
    return refuse("future_timestamp", `${name} is ${ahead} s in the future, ${limit}`);
  }
  return undefined;
}
