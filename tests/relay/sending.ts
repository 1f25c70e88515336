import assert from "node:assert/strict";
import type { Relay } from "../helpers/program.ts";

export interface RelayAnswer {
  http: number;
  status?: string;
  code?: string;
  deliveryId: string;
}

let counter = 0;

/** Sends a request to `/?query`; a body of its own where none is given. */
export async function send(
  relay: Relay,
  query: string,
  { body = `{"post":${++counter}}`, ...init }: RequestInit & { body?: string } = {},
): Promise<RelayAnswer> {
  const bodiless = init.method === "GET" || init.method === "HEAD";
  const response = await fetch(`${relay.origin}/${query && `?${query}`}`, {
    method: "POST",
    ...init,
    body: bodiless ? undefined : body,
  });
  const text = await response.text();
  return { http: response.status, ...(text === "" ? {} : JSON.parse(text)) };
}

/** Relays a request to a target, which must be taken. */
export async function relayTo(
  relay: Relay,
  target: string,
  init: RequestInit & { body?: string } = {},
): Promise<RelayAnswer> {
  const answer = await send(relay, `to=${encodeURIComponent(target)}`, init);
  assert.equal(answer.status, "accepted", JSON.stringify(answer));
  return answer;
}
