import type { LaneRow } from "../decide/lane.ts";
import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";

/** A lane's row with its version; both `null` where none is stored yet. */
export type StoredLane = { row: LaneRow | null; versionstamp: string | null };

/** Reads a lane's row. */
export async function readLane(store: Store, endpoint: string): Promise<StoredLane> {
  const entry = await store.kv.get<LaneRow>(keys.lane(endpoint));
  return { row: entry.value, versionstamp: entry.versionstamp };
}

const LANE_BYTES = 1_024;

/** Writes a lane's row over the version it was read at. A lost race is `false`. */
export async function writeLane(
  store: Store,
  endpoint: string,
  row: LaneRow,
  versionstamp: string | null,
): Promise<string | false> {
  const key = keys.lane(endpoint);
  const result = await store.committer.commit({
    checks: [{ key, versionstamp }],
    mutations: [{ type: "set", key, value: row }],
    bytes: LANE_BYTES,
  });
  return result.ok && result.versionstamp;
}
