import { attemptHeaders } from "../decide/headers.ts";
import { attemptUrl } from "../decide/target_url.ts";
import type { Endpoint } from "../endpoint.ts";
import { LIMITS } from "../limits.ts";
import type { Delivery, HeaderList, PayloadHead, RequestHead } from "../model.ts";
import type { Store } from "../store/kv.ts";
import { readBody, readPayloadHead, readWholeBody } from "../store/payload.ts";
import type { Sender } from "../verify/sender.ts";
import { signDelivery } from "../verify/sign.ts";
import type { Outgoing } from "./transport.ts";

/** A request still at hand from its acceptance, so that nothing is read back. */
export interface RequestAtHand {
  head: PayloadHead;
  body: Uint8Array;
}

/**
 * Builds what one attempt sends: the stored bytes, the sender's headers, ours, and the
 * signatures that are made anew at each attempt. `undefined` where the payload is gone.
 */
export async function outgoing(
  store: Store,
  endpoint: Endpoint,
  sender: Sender,
  delivery: Delivery,
  atMs: number,
  signal: AbortSignal,
  atHand?: RequestAtHand,
): Promise<Outgoing | undefined> {
  const head = atHand?.head ?? await readPayloadHead(store, delivery.id);
  if (head === undefined) return undefined;
  const body = atHand?.body ?? await openBody(store, delivery, head);
  return {
    endpoint: endpoint.id,
    ...attemptUrl(endpoint.targetUrl, head.path, head.query, endpoint),
    method: head.method,
    headers: await headersOf(endpoint, sender, delivery, head, body, atMs),
    body,
    bodyBytes: delivery.bytes,
    timeoutMs: endpoint.timeoutMs,
    signal,
  };
}

async function openBody(
  store: Store,
  delivery: Delivery,
  head: PayloadHead,
): Promise<Outgoing["body"]> {
  if (delivery.bytes <= LIMITS.wholeBodyBytes) return await readWholeBody(store, delivery, head);
  return () => readBody(store, delivery, head);
}

async function headersOf(
  endpoint: Endpoint,
  sender: Sender,
  delivery: Delivery,
  head: PayloadHead,
  body: Outgoing["body"],
  atMs: number,
): Promise<HeaderList> {
  const pieces = () => body instanceof Uint8Array ? [body] : body();
  const stamped = await sender.restamp?.(requestHead(endpoint, head), pieces(), atMs);
  const headers = attemptHeaders(stamped ?? head.headers, {
    deliveryId: delivery.id,
    eventId: delivery.eventId,
    attempt: delivery.attemptCount + 1,
    acceptedAtMs: delivery.acceptedAtMs,
    replay: delivery.replays,
    configured: endpoint.headers,
  });
  if (endpoint.signingSecret === undefined) return headers;
  return [...headers, ...await signDelivery(endpoint.signingSecret, delivery.id, pieces(), atMs)];
}

/** The request as the sender made it, with the URL it called. */
function requestHead(endpoint: Endpoint, head: PayloadHead): RequestHead {
  const value = (name: string) => head.headers.find(([header]) => header === name)?.[1] ?? "";
  const origin = `${value("x-forwarded-proto")}://${value("x-forwarded-host")}`;
  const query = head.query === "" ? "" : `?${head.query}`;
  const { method, path, headers } = head;
  return {
    method,
    path,
    query: head.query,
    headers,
    url: `${origin}/hook/${endpoint.id}${path}${query}`,
  };
}
