import { Buffer } from "node:buffer";
import type { HeaderList, RequestHead } from "../model.ts";

/** A request as it was written down: request line, header lines, blank line, body. */
export interface CapturedRequest {
  head: RequestHead;
  body: Uint8Array;
  /** `content-length`, where it is not the body's length. */
  declaredBytes?: number;
}

/**
 * Reads a captured HTTP/1 request. Lines may end in LF alone; what follows the announced
 * length (an editor's last line break) is dropped. A text is what is wrong with it.
 */
export function readCaptured(request: Uint8Array): CapturedRequest | string {
  const text = Buffer.from(request).toString("latin1");
  const end = /\r?\n\r?\n/.exec(text);
  const lines = (end === null ? text : text.slice(0, end.index)).split(/\r?\n/);
  const line = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(lines[0]);
  if (line === null) return "the first line is not `METHOD TARGET HTTP/1.1`";
  const headers: [string, string][] = [];
  for (const one of lines.slice(1)) {
    const colon = one.indexOf(":");
    if (colon < 1) return "a header line has no colon (is the blank line before the body missing?)";
    headers.push([one.slice(0, colon).trim().toLowerCase(), one.slice(colon + 1).trim()]);
  }
  const rest = end === null ? new Uint8Array() : request.subarray(end.index + end[0].length);
  return { head: headOf(line[1], line[2], headers), ...announcedBody(headers, rest) };
}

function announcedBody(headers: HeaderList, rest: Uint8Array) {
  const announced = headers.find(([name]) => name === "content-length")?.[1];
  if (announced === undefined || !/^\d+$/.test(announced)) return { body: rest };
  const bytes = Number(announced);
  return bytes > rest.length
    ? { body: rest, declaredBytes: bytes }
    : { body: rest.subarray(0, bytes) };
}

/** Of a request that a relay forwarded, the address is the one its sender called. */
function headOf(method: string, target: string, headers: HeaderList): RequestHead {
  const value = (name: string) => headers.find(([key]) => key === name)?.[1];
  const host = value("x-forwarded-host") ?? value("host") ?? "localhost";
  const origin = `${value("x-forwarded-proto") ?? "https"}://${host}`;
  const url = target.startsWith("/") ? origin + target : target;
  const question = url.indexOf("?");
  return { method, path: "", query: question < 0 ? "" : url.slice(question + 1), url, headers };
}
