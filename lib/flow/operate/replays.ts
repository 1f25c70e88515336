import type { Endpoint } from "../../endpoint.ts";
import { type Problem, problem } from "../../errors.ts";
import { isId, isRelayLane } from "../../ids.ts";
import type { Clock, NextId } from "../../ports.ts";
import { listJobs, readJob, type ReplayJob, writeJob } from "../../store/jobs.ts";
import type { Store } from "../../store/kv.ts";
import { endpointsWithDeliveries } from "../../store/list.ts";
import { replayable, type ReplayFilter } from "../../store/replayable.ts";
import type { Lanes } from "../lanes.ts";
import type { ReplayJobs } from "../replay_jobs.ts";
import { unknownEndpoint } from "./lanes.ts";

export interface ReplayParts {
  endpoints: ReadonlyMap<string, Endpoint>;
  lanes: Lanes;
  store: Store;
  clock: Clock;
  nextId: NextId;
  jobs: ReplayJobs;
}

/** What a job would do. */
export interface Survey {
  count: number;
  /** There may be more: looking ended before the last row. */
  atLeast: boolean;
  oldestAtMs?: number;
  newestAtMs?: number;
  /** How many of them the target has taken once before. */
  alreadyDelivered: number;
  lanes: string[];
}

/** Rows looked at before a job starts; 100,000 take a few seconds. */
const SIGHT = 100_000;
const WINDOW = 500;
/** A job's row holds a place for each lane, and has to stay below KV's limit for a value. */
const MOST_LANES = 300;
const SHOWN = 100;

/** Counts what a filter meets, without doing anything. */
export async function surveyReplays(
  { endpoints, lanes, store }: ReplayParts,
  filter: ReplayFilter,
): Promise<Survey | Problem> {
  const { endpoint } = filter;
  if (endpoint !== undefined && await lanes.find(endpoint) === undefined) {
    return unknownEndpoint("replay");
  }
  const names = endpoint === undefined
    ? (await endpointsWithDeliveries(store)).filter((id) => endpoints.has(id) || isRelayLane(id))
    : [endpoint];
  const survey: Survey = { count: 0, atLeast: false, alreadyDelivered: 0, lanes: [] };
  let left = SIGHT;
  for (const name of names) left = await surveyLane(store, name, filter, survey, left);
  return survey;
}

async function surveyLane(
  store: Store,
  endpoint: string,
  filter: ReplayFilter,
  survey: Survey,
  rows: number,
): Promise<number> {
  const before = survey.count;
  let left = rows;
  let after: string | undefined;
  do {
    if (left <= 0) survey.atLeast = true;
    if (left <= 0) break;
    const window = await replayable(store, endpoint, filter, WINDOW, after);
    for (const { value } of window.found) {
      survey.count++;
      survey.oldestAtMs = Math.min(survey.oldestAtMs ?? Infinity, value.acceptedAtMs);
      survey.newestAtMs = Math.max(survey.newestAtMs ?? 0, value.acceptedAtMs);
      if (value.attempts.some(({ outcome }) => outcome === "delivered")) survey.alreadyDelivered++;
    }
    left -= WINDOW;
    after = window.after;
  } while (after !== undefined);
  if (survey.count > before || survey.atLeast) survey.lanes.push(endpoint);
  return left;
}

/**
 * Creates a job that replays what fits and was accepted until now, and starts it here.
 * Whichever process lives goes on with it.
 */
export async function startReplays(
  parts: ReplayParts,
  asked: ReplayFilter,
): Promise<ReplayJob | Problem> {
  const createdAtMs = parts.clock.nowMs();
  const filter = { ...asked, untilMs: Math.min(asked.untilMs ?? Infinity, createdAtMs + 1) };
  const survey = await surveyReplays(parts, filter);
  if ("code" in survey) return survey;
  if (survey.lanes.length > MOST_LANES) {
    return problem("bad_parameter", `cannot replay: endpoint is missing, over ${MOST_LANES} fit`);
  }
  const job: ReplayJob = {
    id: parts.nextId(createdAtMs),
    filter,
    state: "running",
    total: survey.count,
    done: 0,
    skipped: 0,
    createdAtMs,
    lanes: Object.fromEntries(survey.lanes.map((endpoint) => [endpoint, {}])),
  };
  if (await writeJob(parts.store, job, null) === false) {
    throw new Error(`cannot create job ${job.id}: its id is taken`);
  }
  parts.jobs.look();
  return job;
}

/** Ends a running job; what it has replayed so far stays replayed. */
export async function cancelReplays(parts: ReplayParts, id: string): Promise<ReplayJob | Problem> {
  for (;;) {
    const found = isId(id) ? await readJob(parts.store, id) : undefined;
    if (found === undefined) return unknownJob("cancel");
    const { value: { lease: _, ...job }, versionstamp } = found;
    if (job.state !== "running") {
      return problem("wrong_state", `cannot cancel job ${id}: state is ${job.state}`);
    }
    const finishedAtMs = parts.clock.nowMs();
    const cancelled: ReplayJob = { ...job, state: "cancelled", finishedAtMs };
    if (await writeJob(parts.store, cancelled, versionstamp) !== false) return cancelled;
  }
}

/** One job as it stands. */
export async function showReplays(
  { store }: ReplayParts,
  id: string,
): Promise<ReplayJob | Problem> {
  const found = isId(id) ? await readJob(store, id) : undefined;
  return found?.value ?? unknownJob("show");
}

/** The latest jobs, newest first. */
export async function latestReplays({ store }: ReplayParts): Promise<ReplayJob[]> {
  return (await listJobs(store, SHOWN)).map((job) => job.value);
}

function unknownJob(verb: string): Problem {
  return problem("unknown_job", `cannot ${verb} the job: its id is unknown`);
}
