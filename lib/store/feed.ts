import { KV } from "../limits.ts";
import type { Store } from "./kv.ts";
import type { Mutation } from "./write.ts";

/**
 * What happens in one process, for listeners of the others. Each process writes rows of
 * its own, numbered by their first event, and one head with the number of its last event.
 * Rows and heads expire; nothing is written while nobody listens anywhere.
 */
const feedKeys = {
  listeners: (): Deno.KvKey => ["watch", "listeners"],
  heads: (): Deno.KvKey => ["watch", "head"],
  head: (owner: string): Deno.KvKey => ["watch", "head", owner],
  row: (owner: string, first: number): Deno.KvKey => ["watch", "feed", owner, first],
} as const;

/** An event as it is told: `data` is its JSON text. */
export interface FeedEvent {
  type: string;
  data: string;
}

/** An event with its number among those of its process. */
export interface NumberedEvent extends FeedEvent {
  seq: number;
}

/** How long a listener that was cut off finds what it missed. */
export const RESUME_MS = 10 * 60_000;
/** Rows are kept a little longer, for clocks that differ and listeners that come at the end. */
const KEPT_MS = RESUME_MS + 60_000;

const ROW_EVENTS = 200;
/** Text is stored with one or two bytes a character; so a row stays under KV's value limit. */
const ROW_CHARS = (KV.valueBytes - 8 * 1024) / 2;
/** An event's names and number, beside its text. */
const EVENT_BYTES = 64;
const HEAD_BYTES = 64;
const ROWS_A_COMMIT = Math.floor(KV.commitBytes / KV.valueBytes);

/** Tells all processes that somebody listens, or did so less than `RESUME_MS` ago. */
export async function markListening(store: Store, untilMs: number): Promise<void> {
  const value = { untilMs: untilMs + RESUME_MS };
  await store.committer.commit({
    checks: [],
    mutations: [{ type: "set", key: feedKeys.listeners(), value, expireIn: RESUME_MS + KEPT_MS }],
    bytes: 32,
  });
}

/** Whether somebody listens in any process. */
export async function isListenedTo(store: Store): Promise<boolean> {
  const { value } = await store.kv.get<{ untilMs: number }>(feedKeys.listeners());
  return value !== null && value.untilMs > store.clock.nowMs();
}

/** Writes events of this process, numbers rising. Rejects with `StoreUnavailable`. */
export async function appendFeed(
  store: Store,
  owner: string,
  events: readonly NumberedEvent[],
): Promise<void> {
  const rows = intoRows(events);
  for (let at = 0; at < rows.length; at += ROWS_A_COMMIT) {
    const group = rows.slice(at, at + ROWS_A_COMMIT);
    const last = group.at(-1)?.at(-1)?.seq;
    const mutations = group.map((row): Mutation => ({
      type: "set",
      key: feedKeys.row(owner, row[0].seq),
      value: row,
      expireIn: KEPT_MS,
    }));
    mutations.push({ type: "set", key: feedKeys.head(owner), value: last, expireIn: KEPT_MS });
    await store.committer.commit({ checks: [], mutations, bytes: bytesOf(group.flat()) });
  }
}

/** The number of the last event of every process that told one lately. */
export async function readHeads(store: Store): Promise<Map<string, number>> {
  const heads = new Map<string, number>();
  for await (const { key, value } of store.kv.list<number>({ prefix: feedKeys.heads() })) {
    heads.set(String(key[2]), value);
  }
  return heads;
}

/** Events of one process with numbers above `after`, in order. */
export async function* readFeed(
  store: Store,
  owner: string,
  after: number,
): AsyncGenerator<NumberedEvent> {
  const selector = {
    // The first wanted event may lie inside a row that begins before it.
    start: feedKeys.row(owner, Math.max(0, after - ROW_EVENTS)),
    end: feedKeys.row(owner, Infinity),
  };
  for await (const { value } of store.kv.list<NumberedEvent[]>(selector, { batchSize: 10 })) {
    for (const event of value) if (event.seq > after) yield event;
  }
}

function intoRows(events: readonly NumberedEvent[]): NumberedEvent[][] {
  const rows: NumberedEvent[][] = [];
  let row: NumberedEvent[] = [];
  let chars = 0;
  for (const event of events) {
    if (row.length === ROW_EVENTS || chars + charsOf(event) > ROW_CHARS) {
      if (row.length > 0) rows.push(row);
      row = [];
      chars = 0;
    }
    row.push(event);
    chars += charsOf(event);
  }
  return row.length > 0 ? [...rows, row] : rows;
}

const charsOf = ({ data }: FeedEvent) => data.length + EVENT_BYTES;

const bytesOf = (events: readonly FeedEvent[]) =>
  events.reduce((sum, event) => sum + 2 * charsOf(event), HEAD_BYTES);
