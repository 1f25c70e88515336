import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { LIMITS } from "../limits.ts";

/**
 * A number of a JSON body, as its sender typed it. Converted to a double, integers past
 * 2^53 would merge, and with them two events.
 */
export class JsonNumber {
  constructor(readonly source: string) {}
}

/** What `readJson` gives: JSON values with numbers kept as text. */
export type JsonValue =
  | string
  | boolean
  | null
  | JsonNumber
  | JsonValue[]
  | { [key: string]: JsonValue };

/** The reviver's third argument: ECMAScript's "JSON.parse source text access". */
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

const keepNumbers: Reviver = (_key, value, context) =>
  typeof value === "number" ? new JsonNumber(context?.source ?? String(value)) : value;

/** Reads JSON out of bytes. `undefined` for anything else (gzip, forms, broken UTF-8). */
export function readJson(body: Uint8Array): JsonValue | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    return JSON.parse(text, keepNumbers as (key: string, value: unknown) => unknown) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Follows own properties and array indexes only, so that `__proto__` finds nothing inherited. */
export function walk(value: JsonValue | undefined, steps: readonly string[]) {
  let at = value;
  for (const step of steps) {
    if (at === null || typeof at !== "object" || at instanceof JsonNumber) return undefined;
    if (!Object.hasOwn(at, step) || (Array.isArray(at) && !/^\d+$/.test(step))) return undefined;
    at = (at as { [key: string]: JsonValue })[step];
  }
  return at;
}

/** A text, number or truth value as text; blank is absent, as are null, lists and objects. */
export function scalarText(value: JsonValue | undefined): string | undefined {
  if (value instanceof JsonNumber) return value.source;
  if (typeof value === "boolean") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/**
 * The id at a dot path (`id`, `event.id`, `events.0.id`) of a JSON body; a number is
 * given as typed. `undefined` where the body is not JSON or holds no such scalar.
 */
export function idAtPath(body: Uint8Array, path: string): string | undefined {
  return scalarText(walk(readJson(body), path.split(".")));
}

/** Starts every hashed key, so that no id can pass for another one's hash. */
const HASH_MARK = "sha256:";

/**
 * The event id as a key part that always fits: at most `LIMITS.eventIdBytes` of UTF-8.
 * Distinct ids stay distinct: what is longer, looks like a hash or has no faithful UTF-8
 * form (lone surrogates) is replaced by the SHA-256 of its code units.
 */
export function eventKey(eventId: string): string {
  const fits = eventId.isWellFormed() && !eventId.startsWith(HASH_MARK) &&
    new TextEncoder().encode(eventId).length <= LIMITS.eventIdBytes;
  if (fits) return eventId;
  const hash = createHash("sha256").update(Buffer.from(eventId, "utf16le"));
  return HASH_MARK + hash.digest("hex");
}
