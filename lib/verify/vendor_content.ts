import { createHash } from "node:crypto";
import type { RequestHead } from "../model.ts";
import { concat, decodeText, latin1, sameBytes, utf8 } from "./bytes.ts";
import { formFields, headerValue, type RequestView } from "./request_view.ts";

/** Escapes that HubSpot writes out before it signs (v3: developers.hubspot.com, validating requests). */
const HUBSPOT_ESCAPES = /%(3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

export function hubspotUrl(url: string): string {
  return url.replace(HUBSPOT_ESCAPES, (escape) => decodeURIComponent(escape));
}

/**
 * What Contentful signs before the body: method, request target and the headers that
 * `x-contentful-signed-headers` names, sorted, each followed by a line break
 * (contentful/node-apps-toolkit, request canonicalisation). The target is escaped once
 * more, its query twice. `undefined` where the list of headers is missing.
 */
export function contentfulRequest(head: RequestHead): Uint8Array | undefined {
  const list = headerValue(head, "x-contentful-signed-headers");
  if (list === undefined) return undefined;
  const names = list.split(",").map((name) => name.trim().toLowerCase()).sort();
  const lines = names.map((name) => `${name}:${headerValue(head, name) ?? ""}`).join(";");
  const [path, query] = splitOnce(requestTarget(head.url), "?");
  const target = encodeURI(path + (query === undefined ? "" : `?${encodeURIComponent(query)}`));
  return concat([utf8(`${head.method}\n${target}\n`), latin1(lines), utf8("\n")]);
}

function requestTarget(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/?#]*/i, "");
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

/**
 * What Twilio may have signed: the URL in each of its spellings, then the form's fields. A
 * body that is no form is covered by `bodySHA256` in the URL; without it, it is not
 * covered at all and so refused (twilio.com/docs/usage/security). A text is the reason.
 */
export function twilioRequests(view: RequestView): string[] | string {
  const { head, body = new Uint8Array() } = view;
  if (!URL.canParse(head.url)) return "the called address is not a URL";
  const fields = formFields(head, body);
  const fault = fields === undefined ? bodyHashFault(head, body) : undefined;
  if (fault !== undefined) return fault;
  const suffix = fields === undefined ? "" : twilioFields(fields);
  return twilioUrls(head.url).map((url) => url + suffix);
}

function bodyHashFault(head: RequestHead, body: Uint8Array): string | undefined {
  if (body.length === 0) return undefined;
  const claimed = new URLSearchParams(head.query).get("bodySHA256") ??
    new URL(head.url).searchParams.get("bodySHA256");
  if (claimed === null) return "bodySHA256 is missing in the URL";
  const hash = createHash("sha256").update(body).digest();
  const same = sameBytes(hash, decodeText("hex", claimed) ?? new Uint8Array());
  return same ? undefined : "bodySHA256 in the URL is not the body's hash";
}

/** Names sorted; of a repeated name each different value once, sorted. */
function twilioFields(fields: URLSearchParams): string {
  const names = [...new Set(fields.keys())].sort();
  return names.flatMap((name) =>
    [...new Set(fields.getAll(name))].sort().map((value) => name + value)
  ).join("");
}

/**
 * Twilio signs the URL with or without its port, and in the spelling it was configured or in
 * that of a URL parser, whose query may be escaped anew (twilio-node, `validateRequest`).
 */
function twilioUrls(url: string): string[] {
  const parsed = new URL(url).href;
  const [base, query] = splitOnce(parsed, "?");
  const again = query === undefined ? parsed : `${base}?${reencoded(query)}`;
  return [...new Set([url, parsed, again].flatMap(withAndWithoutPort))];
}

function reencoded(query: string): string {
  return [...new URLSearchParams(query)].map((pair) => pair.map(encodeURIComponent).join("="))
    .join("&");
}

function withAndWithoutPort(url: string): string[] {
  const match = /^(https?):\/\/([^/?#]*@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d+))?(.*)$/is.exec(url);
  if (match === null) return [url];
  const [, scheme, user = "", host, port, rest] = match;
  const origin = `${scheme}://${user}${host}`;
  return [origin + rest, `${origin}:${port ?? (scheme === "https" ? 443 : 80)}${rest}`];
}
