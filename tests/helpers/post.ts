import assert from "node:assert/strict";
import { type Bytes, concat, latin1, utf8 } from "./bytes.ts";
import { exchange, type RawResponse } from "./raw.ts";
import { isDisconnect } from "./wire.ts";

export interface PostOptions {
  /** A body of its own where none is given, so that two posts are never duplicates. */
  body?: Bytes;
  /** Header lines by name; a list makes several lines. */
  headers?: Readonly<Record<string, string | readonly string[]>>;
  method?: string;
  /** What follows the endpoint: path rest and query. */
  rest?: string;
  withinMs?: number;
}

/** An answer of the accepting route. `status` and the ids are there where it was a success. */
export interface PostAnswer {
  http: number;
  status: string;
  deliveryId: string;
  eventId: string;
  /** Code of the problem document. */
  code: string;
  response: RawResponse;
}

let counter = 0;
const ownBody = () => `{"post":${++counter},"by":${Deno.pid}}`;

/** Bytes of one request on a connection of its own. */
export function requestBytes(
  port: number,
  target: string,
  { body = ownBody(), headers = {}, method = "POST" }: PostOptions = {},
): Uint8Array<ArrayBuffer> {
  const bytes = utf8(body);
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}`)
  );
  const head = [
    `${method} ${target} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    "Connection: close",
    `Content-Length: ${bytes.length}`,
    ...lines,
  ];
  return concat([latin1(head.join("\r\n") + "\r\n\r\n"), bytes]);
}

/** Reads an answer of the accepting route. */
export function postAnswer(response: RawResponse): PostAnswer {
  const text = (name: string) => {
    const value = response.json[name];
    return typeof value === "string" ? value : "";
  };
  return {
    http: response.status,
    status: text("status"),
    deliveryId: text("deliveryId"),
    eventId: text("eventId"),
    code: text("code"),
    response,
  };
}

/** Sends an event as a sender would; `undefined` where the relay is gone or hangs up. */
export async function tryPost(
  relay: { port: number },
  endpoint: string,
  options: PostOptions = {},
): Promise<PostAnswer | undefined> {
  const bytes = requestBytes(relay.port, `/hook/${endpoint}${options.rest ?? ""}`, options);
  try {
    const response = await exchange(relay.port, bytes, { withinMs: options.withinMs ?? 30_000 });
    return response && postAnswer(response);
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused || isDisconnect(error)) return undefined;
    throw error;
  }
}

/** Sends an event and expects any answer. */
export async function post(
  relay: { port: number },
  endpoint: string,
  options: PostOptions = {},
): Promise<PostAnswer> {
  const answer = await tryPost(relay, endpoint, options);
  assert(answer !== undefined, `the relay did not answer a post to ${endpoint}`);
  return answer;
}

/** Sends an event that must be stored now. */
export async function accept(
  relay: { port: number },
  endpoint: string,
  options: PostOptions = {},
): Promise<PostAnswer> {
  const answer = await post(relay, endpoint, options);
  assert.equal(answer.status, "accepted", `${answer.http} ${answer.response.text}`);
  return answer;
}
