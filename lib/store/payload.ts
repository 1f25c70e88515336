import { LIMITS } from "../limits.ts";
import type { Delivery, HeaderList, PayloadHead } from "../model.ts";
import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";
import { readRows } from "./rows.ts";
import type { Mutation } from "./write.ts";

const PAGE_ROWS = 16;

/** Row 0 as it is stored: one text for all header lines is much cheaper to write than a list. */
type StoredHead = Omit<PayloadHead, "headers"> & { headers: string };

/** Names hold no colon and values no line break (RFC 9110 §5.1, §5.5). */
function headerText(headers: HeaderList): string {
  return headers.map(([name, value]) => `${name}:${value}`).join("\n");
}

function headerLines(text: string): HeaderList {
  if (text === "") return [];
  return text.split("\n").map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1)];
  });
}

const opened = (stored: StoredHead): PayloadHead => ({
  ...stored,
  headers: headerLines(stored.headers),
});

/** Body bytes that fit row 0 beside its headers. */
export function firstRowBytes(headerBytes: number): number {
  return Math.max(0, LIMITS.chunkBytes - headerBytes);
}

/** A view's whole buffer would be stored with it; a copy is as large as it looks. */
function standAlone(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}

/** The rows of a body that comes whole: row 0 with the headers, then full chunks. */
export function payloadRows(
  id: string,
  head: PayloadHead,
  body: Uint8Array,
  headerBytes: number,
): Mutation[] {
  const first = firstRowBytes(headerBytes);
  const rows: Mutation[] = [
    {
      type: "set",
      key: keys.payload(id, 0),
      value: {
        ...head,
        headers: headerText(head.headers),
        body: standAlone(body.subarray(0, first)),
      } satisfies StoredHead,
    },
  ];
  for (let at = first; at < body.length; at += LIMITS.chunkBytes) {
    rows.push({
      type: "set",
      key: keys.payload(id, rows.length),
      value: standAlone(body.subarray(at, at + LIMITS.chunkBytes)),
    });
  }
  return rows;
}

/** Reads row 0 of a stored request; `undefined` where it is missing. */
export async function readPayloadHead(store: Store, id: string): Promise<PayloadHead | undefined> {
  const entry = await store.kv.get<StoredHead>(keys.payload(id, 0));
  return entry.value === null ? undefined : opened(entry.value);
}

/** Reads row 0 of several stored requests at once; a missing one is absent. */
export async function readPayloadHeads(
  store: Store,
  ids: readonly string[],
): Promise<Map<string, PayloadHead>> {
  const tails = ids.toSorted().map((id): Deno.KvKey => [id, 0]);
  const rows = tails.length === 0
    ? new Map<Deno.KvKey, Deno.KvEntry<StoredHead>>()
    : await readRows<StoredHead>(store.kv, keys.allPayloads(), tails);
  return new Map(Array.from(rows, ([[id], entry]) => [String(id), opened(entry.value)]));
}

/**
 * Streams a stored body, a few chunks in memory at a time. Throws where a row is missing:
 * a body is sent whole or not at all.
 */
export async function* readBody(
  store: Store,
  delivery: Delivery,
  head: PayloadHead,
): AsyncGenerator<Uint8Array> {
  if (head.body.length > 0) yield head.body;
  let row = 1;
  while (row < delivery.chunks) {
    const end = Math.min(row + PAGE_ROWS, delivery.chunks);
    const selector = { start: keys.payload(delivery.id, row), end: keys.payload(delivery.id, end) };
    const before = row;
    for await (const entry of store.kv.list<Uint8Array>(selector, { batchSize: PAGE_ROWS })) {
      yield entry.value;
      row++;
    }
    if (row < end) {
      throw new Error(`cannot read payload ${delivery.id}: row ${before} to ${end} is incomplete`);
    }
  }
}

/** Reads a stored body whole; for bodies up to `LIMITS.wholeBodyBytes`. */
export async function readWholeBody(
  store: Store,
  delivery: Delivery,
  head: PayloadHead,
): Promise<Uint8Array> {
  if (delivery.chunks === 1) return head.body;
  const body = new Uint8Array(delivery.bytes);
  let at = 0;
  for await (const chunk of readBody(store, delivery, head)) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
