import { createHash } from "node:crypto";
import { type JsonValue, readJson, scalarText, walk } from "../decide/event_id.ts";
import type { RequestHead } from "../model.ts";
import { utf8 } from "./bytes.ts";
import { atPointer, formFields, headerValue } from "./request_view.ts";

/**
 * A part of an event id: a header, a JSON pointer into the body, a form's field (with a JSON
 * pointer into the field's text), or a dot path of the configuration.
 */
export type IdPart = `header:${string}` | `body:/${string}` | `form:${string}` | `path:${string}`;

/** One way to find an event id: a single part, or several that must all be there. */
export type IdSource = IdPart | {
  parts: readonly IdPart[];
  /** Stands between the parts. */
  join?: string;
  /** JSON pointer to a list ("" is the body itself): the ids of all items, with commas. */
  each?: string;
};

interface Where {
  head: RequestHead;
  body?: Uint8Array;
  json?: JsonValue;
}

/**
 * The id from the first source that has all its parts. `whole` is the body where it is in
 * memory; larger bodies have only what their head says.
 */
export function findEventId(
  sources: readonly IdSource[],
  head: RequestHead,
  whole: Uint8Array | undefined,
): string | undefined {
  const where: Where = { head };
  for (const source of sources) {
    const { parts, join = "", each } = typeof source === "string" ? { parts: [source] } : source;
    if (!parts.every((part) => part.startsWith("header:")) && where.body === undefined) {
      if (whole === undefined) continue;
      where.body = whole;
      where.json = readJson(whole);
    }
    const id = each === undefined
      ? joinParts(parts, join, where)
      : ofItems(parts, join, each, where);
    if (id !== undefined) return id;
  }
  return undefined;
}

function ofItems(parts: readonly IdPart[], join: string, each: string, where: Where) {
  const items = atPointer(where.json, each);
  if (!Array.isArray(items) || items.length === 0) return undefined;
  const ids = items.map((json) => joinParts(parts, join, { ...where, json }));
  return ids.every((id) => id !== undefined) ? ids.join(",") : undefined;
}

function joinParts(parts: readonly IdPart[], join: string, where: Where): string | undefined {
  const values = parts.map((part) => partValue(part, where));
  return values.every((value) => value !== undefined) ? values.join(join) : undefined;
}

function partValue(part: IdPart, { head, body, json }: Where): string | undefined {
  const colon = part.indexOf(":");
  const name = part.slice(colon + 1);
  switch (part.slice(0, colon)) {
    case "header":
      return headerValue(head, name.toLowerCase());
    case "path":
      return scalarText(walk(json, name.split(".")));
    case "body":
      return scalarText(atPointer(json, name));
    default:
      return body === undefined ? undefined : formValue(head, body, name);
  }
}

function formValue(head: RequestHead, body: Uint8Array, name: string): string | undefined {
  const slash = name.indexOf("/");
  const text = formFields(head, body)?.get(slash < 0 ? name : name.slice(0, slash));
  if (text === undefined || text === null) return undefined;
  return scalarText(slash < 0 ? text : atPointer(readJson(utf8(text)), name.slice(slash)));
}

/**
 * The id of an event that carries none: SHA-256 over event type, method, path, query and
 * body (`bodySha256` in hex).
 */
export function hashedId(
  head: RequestHead,
  eventTypeHeader: string | undefined,
  bodySha256: string,
): string {
  const type = eventTypeHeader === undefined ? "" : headerValue(head, eventTypeHeader) ?? "";
  const lines = [type, head.method, head.path, head.query, bodySha256];
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}
