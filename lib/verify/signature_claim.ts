import { JsonNumber } from "../decide/event_id.ts";
import type { SignatureScheme, TimestampRule } from "../signature_scheme.ts";
import { latin1 } from "./bytes.ts";
import { SIGNATURE_BYTES } from "./mac.ts";
import { atPointer, findAll, type Found, type RequestView, sourceName } from "./request_view.ts";
import { readSignatureText } from "./signature_text.ts";
import { fillIn, type SignedContent, type Template } from "./signed_content.ts";
import { timestampFault } from "./timestamp.ts";
import { isRefusal, type Refusal, refuse } from "./verdict.ts";

/** What a request says is signed, and by which signatures. */
export interface Claim {
  signatures: Uint8Array[];
  contents: SignedContent[];
}

/** Reads signatures, time and signed content; refuses what no key could make good. */
export function readClaim(
  scheme: SignatureScheme,
  template: Template,
  view: RequestView,
  nowMs: number,
): Claim | Refusal {
  const read = readSignatures(scheme, view);
  if (isRefusal(read)) return read;
  const timestamp = scheme.timestamp && readTimestamp(scheme.timestamp, view, read.items, nowMs);
  if (timestamp !== undefined && isRefusal(timestamp)) return timestamp;
  const id = scheme.id && findAll(view, scheme.id)[0];
  if (scheme.id !== undefined && id === undefined) {
    return refuse("bad_signature", `${sourceName(scheme.id[0])}, which is signed, is missing`);
  }
  const contents = fillIn(template, view, { timestamp, id });
  if (typeof contents === "string") return refuse("bad_signature", contents);
  return { signatures: read.signatures, contents };
}

/** A signature source's content: decoded signatures and the items beside them. */
export interface ReadSignatures {
  signatures: Uint8Array[];
  items: ReadonlyMap<string, string>;
}

/** Reads the signatures of all lines of the first source that is present. */
export function readSignatures(
  scheme: SignatureScheme,
  view: RequestView,
): ReadSignatures | Refusal {
  const found = findAll(view, scheme.signature);
  const name = sourceName(scheme.signature[0]);
  if (found.length === 0) return refuse("missing_signature", `${name} is missing`);
  const read = found.map(({ text }) => readSignatureText(scheme, text));
  const bytes = SIGNATURE_BYTES[scheme.algorithm];
  const signatures = read.flatMap((one) => one.signatures)
    .filter((signature) => bytes === undefined || signature.length === bytes);
  if (signatures.length === 0) {
    return refuse("malformed_signature", `${name} is not ${signatureForm(scheme)}`);
  }
  return { signatures, items: new Map(read.flatMap((one) => [...one.items])) };
}

/** What a signature looks like, for people. */
export function signatureForm(scheme: SignatureScheme): string {
  const bytes = SIGNATURE_BYTES[scheme.algorithm];
  const value = `<${bytes === undefined ? "" : `${bytes} bytes of `}${scheme.encoding}>`;
  if (scheme.items !== undefined) {
    return `a list with ${scheme.items.accept[0]}${scheme.items.assign}${value}`;
  }
  return (scheme.prefix ?? "") + value;
}

function readTimestamp(
  rule: TimestampRule,
  view: RequestView,
  items: ReadonlyMap<string, string>,
  nowMs: number,
): Found | Refusal {
  const found = findTimestamp(rule, view, items);
  if (found === undefined || found.text === "") {
    return refuse("missing_timestamp", `${sourceName(rule.from[0])} is missing`);
  }
  return timestampFault(found.text, rule, nowMs) ?? found;
}

function findTimestamp(
  rule: TimestampRule,
  view: RequestView,
  items: ReadonlyMap<string, string>,
): Found | undefined {
  for (const source of rule.from) {
    const item = source.startsWith("item:") ? items.get(sourceName(source)) : undefined;
    if (item !== undefined) return { text: item, bytes: latin1(item) };
  }
  if (rule.jsonNumber && !(atPointer(view.json, sourceName(rule.from[0])) instanceof JsonNumber)) {
    return undefined;
  }
  return findAll(view, rule.from)[0];
}
