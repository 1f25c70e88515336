import { eventKey } from "../decide/event_id.ts";
import type { Finding } from "../decide/github/finding.ts";
import type { WatchRow } from "../decide/github/watch.ts";
import { readClaim } from "./accept.ts";
import type { Store } from "./kv.ts";
import type { Mutation } from "./write.ts";

const watchKeys = {
  row: (endpoint: string): Deno.KvKey => ["watch", endpoint],
  /** An operator wants a pass now. */
  wanted: (endpoint: string): Deno.KvKey => ["watch", endpoint, "wanted"],
  finding: (endpoint: string, guid: string): Deno.KvKey => [
    "watch",
    endpoint,
    "finding",
    eventKey(guid),
  ],
  findings: (endpoint: string): Deno.KvKey => ["watch", endpoint, "finding"],
};

/** What is stored of a watched hook; `null` where nothing is yet. */
export interface StoredWatch {
  row: WatchRow | null;
  versionstamp: string | null;
  /** Version of the operator's wish for a pass, if there is one. */
  wantedStamp: string | null;
}

/** Reads a watched hook's row and whether a pass is wanted. */
export async function readWatch({ kv }: Store, endpoint: string): Promise<StoredWatch> {
  const [row, wanted] = await kv.getMany<[WatchRow, number]>([
    watchKeys.row(endpoint),
    watchKeys.wanted(endpoint),
  ]);
  return { row: row.value, versionstamp: row.versionstamp, wantedStamp: wanted.versionstamp };
}

/** Finding rows to write in the same commit as the watch's row. */
export interface FindingChanges {
  set?: readonly Finding[];
  /** GUIDs. */
  delete?: readonly string[];
}

/** Counted from its last change. GitHub forgets the event after 3 days. */
const FINDING_KEPT_MS = 7 * 86_400_000;
const ROW_BYTES = 8_192;
const FINDING_BYTES = 1_024;

/**
 * Writes the row over the version it was read at, with changed findings in the same commit.
 * `false`: another process has taken over. Rejects with `StoreUnavailable`.
 */
export async function writeWatch(
  store: Store,
  endpoint: string,
  row: WatchRow,
  versionstamp: string | null,
  { set = [], delete: gone = [] }: FindingChanges = {},
): Promise<string | false> {
  const key = watchKeys.row(endpoint);
  const mutations: Mutation[] = [
    { type: "set", key, value: row },
    ...set.map((finding) => ({
      type: "set" as const,
      key: watchKeys.finding(endpoint, finding.guid),
      value: finding,
      expireIn: FINDING_KEPT_MS,
    })),
    ...gone.map((guid) => ({ type: "delete" as const, key: watchKeys.finding(endpoint, guid) })),
  ];
  const bytes = ROW_BYTES + FINDING_BYTES * set.length;
  const result = await store.committer.commit({
    checks: [{ key, versionstamp }],
    mutations,
    bytes,
  });
  return result.ok && result.versionstamp;
}

/** Notes that a pass is wanted now. */
export async function wantPass(store: Store, endpoint: string, nowMs: number): Promise<void> {
  const key = watchKeys.wanted(endpoint);
  await store.committer.commit({
    checks: [],
    mutations: [{ type: "set", key, value: nowMs }],
    bytes: 16,
  });
}

/** Takes the wish back that a pass is about to fulfil; a newer one stays. */
export async function dropWish(
  store: Store,
  endpoint: string,
  versionstamp: string,
): Promise<void> {
  const key = watchKeys.wanted(endpoint);
  await store.committer.commit({
    checks: [{ key, versionstamp }],
    mutations: [{ type: "delete", key }],
    bytes: 0,
  });
}

/** All findings of a hook, oldest event first. */
export async function listFindings({ kv }: Store, endpoint: string): Promise<Finding[]> {
  const found: Finding[] = [];
  const entries = kv.list<Finding>({ prefix: watchKeys.findings(endpoint) }, { batchSize: 500 });
  for await (const { value } of entries) found.push(value);
  return found.sort((a, b) => a.deliveredAtMs - b.deliveredAtMs);
}

/** The findings of these events, where there are any. */
export async function readFindings(
  { kv }: Store,
  endpoint: string,
  guids: readonly string[],
): Promise<Map<string, Finding>> {
  const entries = await Promise.all(
    guids.map((guid) => kv.get<Finding>(watchKeys.finding(endpoint, guid))),
  );
  return new Map(
    entries.flatMap(({ value }) => value === null ? [] : [[value.guid, value]]),
  );
}

/** Whether the event has been accepted here, whatever became of it since. */
export async function isHere(store: Store, endpoint: string, guid: string): Promise<boolean> {
  return await readClaim(store, endpoint, eventKey(guid)) !== undefined;
}
