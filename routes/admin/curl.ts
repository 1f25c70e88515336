import { Buffer } from "node:buffer";
import type { Inspection } from "../../lib/flow/operate/inspect.ts";

/** Longer bodies do not belong on a command line. */
const INLINE_BYTES = 8 * 1024;
/** What curl sets itself, what belongs to one connection, and what was added on the way. */
const OWN =
  /^(host|content-length|connection|accept-encoding|transfer-encoding|x-forwarded-(for|host|proto))$/;

/**
 * A command that sends the same request again, where its content may be shown; else one that
 * asks the API to replay it. Nothing in it steers a terminal or ends a quotation.
 */
export function curlLine({ delivery, shown, headers, start }: Inspection, origin: string): string {
  const { id, endpoint, method, path, query, bytes } = delivery;
  const token = `-H "authorization: Bearer $ADMIN_TOKEN"`;
  if (!shown || start === undefined) {
    return `curl -X POST ${quote(`${origin}/api/v1/deliveries/${id}/replay`)} ${token}`;
  }
  const url = `${origin}/hook/${endpoint}${path}${query && `?${query}`}`;
  const lines = headers.filter(([name]) => !OWN.test(name))
    .map(([name, value]) => `-H ${quote(`${name}: ${value}`, "latin1")}`);
  const text = bytes <= INLINE_BYTES ? inlineText(start) : undefined;
  const download = `curl -s ${quote(`${origin}/api/v1/deliveries/${id}/payload`)} ${token} |`;
  const body = text === undefined ? "--data-binary @-" : `--data-raw ${quote(text)}`;
  const send = [
    `curl -X ${method} ${quote(url, "latin1")}`,
    ...lines,
    ...(bytes > 0 ? [body] : []),
  ];
  return (bytes > 0 && text === undefined ? `${download}\n` : "") + send.join(" \\\n  ");
}

function inlineText(start: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(start);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/**
 * A shell word: plain quotes for printable ASCII, else the `$'…'` of bash and zsh. What came
 * with a request's head is Latin-1: one char a byte.
 */
export function quote(text: string, encoding: "utf8" | "latin1" = "utf8"): string {
  if (/^[\x20-\x7e]*$/.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = Array.from(Buffer.from(text, encoding), (byte) => {
    const char = String.fromCharCode(byte);
    if (byte < 0x20 || byte > 0x7e) return `\\x${byte.toString(16).padStart(2, "0")}`;
    return char === "'" || char === "\\" ? `\\${char}` : char;
  });
  return `$'${escaped.join("")}'`;
}
