import { Buffer } from "node:buffer";
import { type Endpoint, endpointSchema, toEndpoint } from "../../lib/endpoint.ts";
import type { HeaderList, RequestHead } from "../../lib/model.ts";
import type { Sender, Verdict } from "../../lib/verify/sender.ts";

/** Builders of what the verifiers take, shared by the tests of this folder. */

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** An endpoint with defaults; `secrets` sets them past the configuration's checks. */
export function endpointWith(
  fields: Record<string, unknown>,
  secrets?: readonly string[],
): Endpoint {
  const entry = { id: "demo", targetUrl: "http://127.0.0.1:9000/in", ...fields };
  const endpoint = toEndpoint(endpointSchema.parse(entry));
  return secrets === undefined ? endpoint : { ...endpoint, secrets };
}

interface Parts {
  method?: string;
  url?: string;
  headers?: Readonly<Record<string, string>>;
}

/** A request's head as it comes in: lower-case names, one char a byte. */
export function headOf({ method = "POST", url, headers = {} }: Parts): RequestHead {
  const called = url ?? "https://relay.example.com/hook/demo";
  return {
    method,
    path: "",
    query: called.includes("?") ? called.slice(called.indexOf("?") + 1) : "",
    url: called,
    headers: headerList(headers),
  };
}

export function headerList(headers: Readonly<Record<string, string>>): HeaderList {
  return Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    Buffer.from(value, "utf8").toString("latin1"),
  ]);
}

/** Verifies a request whose body comes in pieces of `pieceBytes`. */
export function verdictOf(
  sender: Sender,
  head: RequestHead,
  body: Uint8Array,
  nowMs: number,
  pieceBytes = 7,
): Verdict {
  const check = sender.begin(head, nowMs);
  if ("ok" in check) return check;
  for (let at = 0; at < body.length; at += pieceBytes) {
    check.update(body.subarray(at, at + pieceBytes));
  }
  return check.finish(body);
}

/** `ok`, or the refusal's code. */
export const codeOf = (verdict: Verdict): string => verdict.ok ? "ok" : verdict.code;
