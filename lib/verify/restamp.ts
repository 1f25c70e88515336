import type { HeaderList, RequestHead } from "../model.ts";
import type { Scheme, SignatureScheme, Source, TimestampRule } from "../signature_scheme.ts";
import { latin1 } from "./bytes.ts";
import { isHmac, startHmac } from "./mac.ts";
import { findAll, headerValue, sourceName } from "./request_view.ts";
import type { NamedKey } from "./signature.ts";
import { writeSignatureText } from "./signature_text.ts";
import { fillIn, readTemplate } from "./signed_content.ts";
import { writeTimestamp } from "./timestamp.ts";

/** One request's bytes, in pieces. */
export type BodyPieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** A scheme whose time stands beside the body, so that the same bytes can be signed anew. */
export type TimedScheme = SignatureScheme & { timestamp: TimestampRule };

/** Whether a signature can be made anew: an HMAC over a time that is not part of the body. */
export function isTimed(scheme: Scheme): scheme is TimedScheme {
  if (scheme.type !== "signature" || scheme.timestamp === undefined) return false;
  const inHead = (sources: readonly Source[]) => sources.every((one) => !one.startsWith("body:"));
  return isHmac(scheme.algorithm) && scheme.each === undefined &&
    inHead(scheme.signature) && inHead(scheme.timestamp.from);
}

const ORIGINAL = "holdfast-original-";

/**
 * The header list of an attempt at `atMs`: time and signature are made anew over the same
 * bytes, the sender's own stay beside as `holdfast-original-<name>`. A list of signatures
 * gets one of every key, a single signature is the first key's. A request that never
 * carried a signature is left as it is.
 */
export async function restamp(
  scheme: TimedScheme,
  keys: readonly NamedKey[],
  head: RequestHead,
  body: BodyPieces,
  atMs: number,
): Promise<HeaderList> {
  const signatureHeader = presentHeader(head, scheme.signature);
  if (signatureHeader === undefined) return head.headers;
  const time = writeTimestamp(atMs, scheme.timestamp.unit);
  const timeHeader = presentHeader(head, scheme.timestamp.from);
  const stamped = timeHeader === undefined ? head : withHeader(head, timeHeader, time);
  const macs = startMacs(scheme, keys, stamped, time);
  for await (const piece of body) macs.forEach((mac) => mac.update(piece));
  const item = scheme.timestamp.from.find((source) => source.startsWith("item:"));
  const text = writeSignatureText(
    scheme,
    macs.map((mac) => mac.digest()),
    item && [sourceName(item), time],
  );
  return withHeader(stamped, signatureHeader, text).headers;
}

function startMacs(
  scheme: TimedScheme,
  keys: readonly NamedKey[],
  head: RequestHead,
  time: string,
) {
  const template = readTemplate(scheme.signedContent);
  if (typeof template === "string") throw new Error(`cannot use signedContent: it ${template}`);
  const id = scheme.id && findAll({ head }, scheme.id)[0];
  const stamps = { timestamp: { text: time, bytes: latin1(time) }, id };
  const contents = fillIn(template, { head }, stamps);
  if (typeof contents === "string") throw new Error(`cannot sign request: ${contents}`);
  const [{ before, after, withBody }] = contents;
  return keys.map(({ key }) => {
    const mac = startHmac(scheme.algorithm, key).update(before);
    return {
      update: (piece: Uint8Array) => withBody ? mac.update(piece) : mac,
      digest: () => mac.update(after).digest(),
    };
  });
}

function presentHeader(head: RequestHead, sources: readonly Source[]): string | undefined {
  return sources.filter((source) => source.startsWith("header:")).map(sourceName)
    .find((name) => headerValue(head, name) !== undefined);
}

/** Replaces a header's lines by one and keeps the old ones under their original's name. */
function withHeader(head: RequestHead, name: string, value: string): RequestHead {
  const original = ORIGINAL + name;
  const others = head.headers.filter(([key]) => key !== name && key !== original);
  const old = head.headers.filter(([key]) => key === name)
    .map(([, text]) => [original, text] as const);
  return { ...head, headers: [...others, [name, value], ...old] };
}
