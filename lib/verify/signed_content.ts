import { concat, utf8 } from "./bytes.ts";
import { findAll, type Found, type RequestView } from "./request_view.ts";
import { contentfulRequest, hubspotUrl, twilioRequests } from "./vendor_content.ts";

/** The bytes one signature covers: the body stands between the two ends, or nowhere. */
export interface SignedContent {
  before: Uint8Array;
  after: Uint8Array;
  withBody: boolean;
}

/** Values that were read before the template is filled in. */
export interface Stamps {
  timestamp?: Found;
  id?: Found;
}

type Piece = { text: string } | { name: string; argument: string; optional: boolean };

/** A template in pieces, made once at start. */
export interface Template {
  pieces: readonly Piece[];
  /** The body's content, not only its bytes, is needed to fill it in. */
  readsBody: boolean;
}

const PLACEHOLDERS = [
  ...["body", "timestamp", "id", "method", "url"],
  ...["hubspot:url", "contentful:request", "twilio:request"],
];
const WITH_ARGUMENT = /^(header:[!#$%&'*+.^_`|~\w-]+|body:\/[^?]*\??)$/;

/** Reads a template; a text is what is wrong with it. */
export function readTemplate(template: string): Template | string {
  const pieces: Piece[] = template.split(/(\{[^{}]*\})/).filter((part) => part !== "").map(piece);
  if (pieces.some((part) => "text" in part && /[{}]/.test(part.text))) {
    return "has a brace that belongs to no placeholder";
  }
  const names = pieces.flatMap((part) => "name" in part ? [part] : []);
  const unknown = names.find((part) =>
    !PLACEHOLDERS.includes(part.name) && !WITH_ARGUMENT.test(part.name)
  );
  if (unknown !== undefined) return `has an unknown placeholder {${unknown.name}}`;
  if (names.filter((part) => part.name === "body").length > 1) return "has {body} twice";
  const twilio = names.some((part) => part.name === "twilio:request");
  if (twilio && pieces.length > 1) return "has {twilio:request} beside other content";
  return { pieces, readsBody: twilio || names.some((part) => part.name.startsWith("body:/")) };
}

function piece(part: string): Piece {
  if (!/^\{[^{}]*\}$/.test(part)) return { text: part };
  const name = part.slice(1, -1);
  const optional = name.endsWith("?");
  return { name, argument: optional ? name.slice(0, -1) : name, optional };
}

/**
 * Fills a template in. Several contents where a sender's own rule leaves a choice (Twilio's
 * port); a text names the value that is missing.
 */
export function fillIn(
  template: Template,
  view: RequestView,
  stamps: Stamps,
): SignedContent[] | string {
  const [first] = template.pieces;
  if ("name" in first && first.name === "twilio:request") {
    const requests = twilioRequests(view);
    if (typeof requests === "string") return requests;
    return requests.map((text) => ({ before: utf8(text), after: utf8(""), withBody: false }));
  }
  const ends: [Uint8Array[], Uint8Array[]] = [[], []];
  let withBody = false;
  for (const part of template.pieces) {
    if ("name" in part && part.name === "body") {
      withBody = true;
      continue;
    }
    const bytes = "text" in part ? utf8(part.text) : value(part, view, stamps);
    if (bytes === undefined) return `${(part as { name: string }).name} is missing`;
    ends[withBody ? 1 : 0].push(bytes);
  }
  return [{ before: concat(ends[0]), after: concat(ends[1]), withBody }];
}

function value(
  part: { name: string; argument: string; optional: boolean },
  view: RequestView,
  stamps: Stamps,
): Uint8Array | undefined {
  const { head } = view;
  switch (part.name) {
    case "timestamp":
      return stamps.timestamp?.bytes;
    case "id":
      return stamps.id?.bytes;
    case "method":
      return utf8(head.method);
    case "url":
      return utf8(head.url);
    case "hubspot:url":
      return utf8(hubspotUrl(head.url));
    case "contentful:request":
      return contentfulRequest(head);
    default: {
      const found = findAll(view, [part.argument as `body:/${string}`])[0];
      return found?.bytes ?? (part.optional ? utf8("") : undefined);
    }
  }
}
