import { keys } from "./keys.ts";
import type { Store, Versioned } from "./kv.ts";
import type { ReplayFilter } from "./replayable.ts";
import type { Mutation } from "./write.ts";

/** Finished jobs are shown for so long. */
const KEPT_MS = 30 * 86_400_000;

/** How far a job has come in one lane. */
export interface LaneProgress {
  /** The last delivery replayed or passed over. */
  after?: string;
  finished?: true;
}

/** A replay job. Progress is written in the commit that replays, so it is never wrong. */
export interface ReplayJob {
  id: string;
  filter: ReplayFilter;
  state: "running" | "done" | "cancelled";
  /** Deliveries that fitted when it was created. */
  total: number;
  done: number;
  /** Once it is done: those that had changed before their turn came. */
  skipped: number;
  createdAtMs: number;
  finishedAtMs?: number;
  lanes: Record<string, LaneProgress>;
  /** The one process that works on it; past `untilMs` another may. */
  lease?: { owner: string; untilMs: number };
}

export type StoredJob = Versioned<ReplayJob>;

/** Reads one job, or `undefined`. */
export async function readJob(store: Store, id: string): Promise<StoredJob | undefined> {
  const { value, versionstamp } = await store.kv.get<ReplayJob>(keys.job(id));
  return value === null ? undefined : { value, versionstamp };
}

/** Reads up to `limit` jobs, newest first. */
export async function listJobs(store: Store, limit: number): Promise<StoredJob[]> {
  const found: StoredJob[] = [];
  const entries = store.kv.list<ReplayJob>({ prefix: keys.jobs() }, { reverse: true, limit });
  for await (const { value, versionstamp } of entries) found.push({ value, versionstamp });
  return found;
}

const JOB_BYTES = 1_024;
const LANE_BYTES = 128;

/** Writes a job over the version it was read at, `null` for a new one. A lost race is `false`. */
export async function writeJob(
  store: Store,
  job: ReplayJob,
  versionstamp: string | null,
): Promise<StoredJob | false> {
  const { check, mutation } = jobChange(job, versionstamp);
  const result = await store.committer.commit({
    checks: [check],
    mutations: [mutation],
    bytes: JOB_BYTES + Object.keys(job.lanes).length * LANE_BYTES,
  });
  return result.ok && { value: job, versionstamp: result.versionstamp };
}

/** A job's change as part of another commit. A finished job's row expires by itself. */
export function jobChange(
  job: ReplayJob,
  versionstamp: string | null,
): { check: Deno.AtomicCheck; mutation: Mutation } {
  const key = keys.job(job.id);
  const expireIn = job.state === "running" ? undefined : KEPT_MS;
  return {
    check: { key, versionstamp },
    mutation: { type: "set", key, value: job, expireIn },
  };
}
