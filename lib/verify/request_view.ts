import { type JsonValue, scalarText, walk } from "../decide/event_id.ts";
import type { RequestHead } from "../model.ts";
import type { Source } from "../signature_scheme.ts";
import { latin1, utf8, utf8Text } from "./bytes.ts";

/** What a scheme may look at: the head always, body and item where they are at hand. */
export interface RequestView {
  head: RequestHead;
  body?: Uint8Array;
  json?: JsonValue;
  /** The list item under check, where each item is checked; it is what pointers start from. */
  item?: JsonValue;
}

/** Non-blank values of all lines with a lower-case name, without outer white space. */
export function headerValues(head: RequestHead, name: string): string[] {
  return head.headers.filter(([key]) => key === name).map(([, value]) => value.trim())
    .filter((value) => value !== "");
}

/** The first non-blank value of a header. */
export function headerValue(head: RequestHead, name: string): string | undefined {
  return headerValues(head, name)[0];
}

/** RFC 6901; own properties only, `undefined` where it leads nowhere. */
export function atPointer(value: JsonValue | undefined, pointer: string): JsonValue | undefined {
  if (pointer === "") return value;
  const steps = pointer.slice(1).split("/");
  return walk(value, steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~")));
}

/** Name of a header or item, pointer of a body source. */
export function sourceName(source: Source): string {
  const name = source.slice(source.indexOf(":") + 1);
  return source.startsWith("header:") ? name.toLowerCase() : name;
}

/** A value found in a request, as text and as the bytes that were sent. */
export interface Found {
  text: string;
  bytes: Uint8Array;
}

/** All values of the first source that is present; items are not looked at here. */
export function findAll(view: RequestView, sources: readonly Source[]): Found[] {
  for (const source of sources) {
    const found = source.startsWith("header:")
      ? headerValues(view.head, sourceName(source)).map((text) => ({ text, bytes: latin1(text) }))
      : source.startsWith("body:")
      ? bodyValues(view, sourceName(source))
      : [];
    if (found.length > 0) return found;
  }
  return [];
}

function bodyValues(view: RequestView, pointer: string): Found[] {
  const text = scalarText(atPointer(view.item ?? view.json, pointer));
  return text === undefined ? [] : [{ text, bytes: utf8(text) }];
}

/** Whether a body is an HTML form, by its content type. */
export function isForm(head: RequestHead): boolean {
  const type = headerValue(head, "content-type") ?? "";
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(type);
}

/** The decoded fields of a form body; `undefined` for other bodies. */
export function formFields(head: RequestHead, body: Uint8Array): URLSearchParams | undefined {
  if (!isForm(head)) return undefined;
  const text = utf8Text(body);
  return text === undefined ? undefined : new URLSearchParams(text);
}
