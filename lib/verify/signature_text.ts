import type { SignatureScheme } from "../signature_scheme.ts";
import { decodeText, encodeText } from "./bytes.ts";

/** A signature header's value, taken apart. */
export interface SignatureText {
  /** Decoded signatures of the accepted kind; malformed ones are left out. */
  signatures: Uint8Array[];
  /** Other items by name, the first one of each. */
  items: ReadonlyMap<string, string>;
}

/** Takes a signature's text apart; anything unknown in it is ignored, nothing throws. */
export function readSignatureText(scheme: SignatureScheme, text: string): SignatureText {
  const { texts, items } = scheme.items === undefined
    ? { texts: withoutPrefix(scheme, text), items: new Map<string, string>() }
    : splitItems(scheme.items, text);
  const signatures = texts.map((one) => decodeText(scheme.encoding, one))
    .filter((bytes) => bytes !== undefined);
  return { signatures, items };
}

function withoutPrefix(scheme: SignatureScheme, text: string): string[] {
  const { prefix = "", prefixOptional } = scheme;
  if (text.startsWith(prefix)) return [text.slice(prefix.length)];
  return prefixOptional ? [text] : [];
}

function splitItems(form: NonNullable<SignatureScheme["items"]>, text: string) {
  const texts: string[] = [];
  const items = new Map<string, string>();
  for (const part of text.split(form.separator)) {
    const at = part.indexOf(form.assign);
    if (at < 0) continue;
    const name = part.slice(0, at).trim();
    const value = part.slice(at + form.assign.length).trim();
    if (form.accept.includes(name)) texts.push(value);
    else if (!items.has(name)) items.set(name, value);
  }
  return { texts, items };
}

/** Writes signatures as the sender would; `stamp` is the timestamp's item, where it has one. */
export function writeSignatureText(
  scheme: SignatureScheme,
  signatures: readonly Uint8Array[],
  stamp?: [name: string, value: string],
): string {
  const texts = signatures.map((bytes) => encodeText(scheme.encoding, bytes));
  const form = scheme.items;
  if (form === undefined) return (scheme.prefix ?? "") + texts[0];
  const signed = texts.map((text) => form.accept[0] + form.assign + text);
  const stamps = stamp === undefined ? [] : [stamp.join(form.assign)];
  return [...stamps, ...signed].join(form.separator);
}
