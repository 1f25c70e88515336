import type { Endpoint } from "../../endpoint.ts";
import { type Problem, problem } from "../../errors.ts";
import type { Delivery, HeaderList } from "../../model.ts";
import type { Store } from "../../store/kv.ts";
import { findDelivery } from "../../store/list.ts";
import { readBody, readPayloadHead } from "../../store/payload.ts";

export interface PayloadParts {
  store: Store;
  endpoints: ReadonlyMap<string, Endpoint>;
}

/** A stored body, read as it is sent on. */
export interface StoredBody {
  bytes: number;
  pieces: AsyncIterable<Uint8Array>;
}

/** A delivery's record; its header lines only where operators may see payloads. */
export async function showDelivery(
  parts: PayloadParts,
  id: string,
): Promise<{ delivery: Delivery; headers?: HeaderList } | Problem> {
  const delivery = (await findDelivery(parts.store, id))?.value;
  if (delivery === undefined) return unknown("show");
  if (!isShown(parts, delivery.endpoint)) return { delivery };
  return { delivery, headers: (await readPayloadHead(parts.store, id))?.headers };
}

/** A delivery's body; `payload_hidden` unless its endpoint has `showPayload`. */
export async function openPayload(parts: PayloadParts, id: string): Promise<StoredBody | Problem> {
  const delivery = (await findDelivery(parts.store, id))?.value;
  const head = delivery && await readPayloadHead(parts.store, id);
  if (delivery === undefined || head === undefined) return unknown("read the payload of");
  if (!isShown(parts, delivery.endpoint)) {
    return problem("payload_hidden", "cannot show the payload: showPayload is false");
  }
  return { bytes: delivery.bytes, pieces: readBody(parts.store, delivery, head) };
}

/** Whether operators may see what the sender wrote. Of removed endpoints they may not. */
export function isShown({ endpoints }: Pick<PayloadParts, "endpoints">, endpoint: string): boolean {
  return endpoints.get(endpoint)?.showPayload ?? false;
}

function unknown(verb: string): Problem {
  return problem("unknown_delivery", `cannot ${verb} the delivery: its id is unknown`);
}
