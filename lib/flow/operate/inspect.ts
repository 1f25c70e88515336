import type { Delivery, HeaderList } from "../../model.ts";
import { type Problem, problem } from "../../errors.ts";
import { findDelivery } from "../../store/list.ts";
import { readBody, readPayloadHead } from "../../store/payload.ts";
import { isShown, type PayloadParts } from "./payload.ts";

/** A delivery for a person to look into. */
export interface Inspection {
  delivery: Delivery;
  /** Whether operators may see what the sender wrote; else header values are absent. */
  shown: boolean;
  headers: ReadonlyArray<readonly [name: string, value: string | undefined]>;
  /** The body's beginning, where it may be shown. */
  start?: Uint8Array;
}

/** Bytes of a body that a page shows; beyond, it is a download. */
export const SHOWN_BYTES = 64 * 1024;

/** Reads a delivery with its header names and, where they may be shown, values and body. */
export async function inspect(parts: PayloadParts, id: string): Promise<Inspection | Problem> {
  const delivery = (await findDelivery(parts.store, id))?.value;
  if (delivery === undefined) {
    return problem("unknown_delivery", "cannot show the delivery: its id is unknown");
  }
  const head = await readPayloadHead(parts.store, id);
  const shown = isShown(parts, delivery.endpoint);
  if (head === undefined) return { delivery, shown, headers: [] };
  if (!shown) return { delivery, shown, headers: masked(head.headers) };
  const start = await firstBytes(readBody(parts.store, delivery, head));
  return { delivery, shown, headers: head.headers, start };
}

const masked = (headers: HeaderList): Inspection["headers"] =>
  headers.map(([name]) => [name, undefined]);

async function firstBytes(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const start = new Uint8Array(SHOWN_BYTES);
  let at = 0;
  for await (const piece of pieces) {
    const fitting = piece.subarray(0, SHOWN_BYTES - at);
    start.set(fitting, at);
    at += fitting.length;
    if (at === SHOWN_BYTES) break;
  }
  return start.subarray(0, at);
}
