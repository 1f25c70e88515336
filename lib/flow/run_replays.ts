import { BACKLOG, replayRoom } from "../decide/replay_pace.ts";
import { replayed } from "../decide/transition.ts";
import type { Clock, Log } from "../ports.ts";
import { change, readDelivery } from "../store/door.ts";
import { dueAfter } from "../store/due.ts";
import { jobChange, readJob, type ReplayJob, type StoredJob, writeJob } from "../store/jobs.ts";
import type { Store, StoredDelivery } from "../store/kv.ts";
import { fits } from "../store/list.ts";
import { replayable } from "../store/replayable.ts";
import type { Lane, Lanes } from "./lanes.ts";
import { replayCount } from "./operate/deliveries.ts";
import type { Schedule } from "./schedule.ts";

export interface RunParts {
  store: Store;
  lanes: Lanes;
  schedule: Schedule;
  clock: Clock;
  log: Log;
  owner: string;
  isStopped: () => boolean;
}

/** A job is another process's to take so long after its last sign of life. */
export const LEASE_MS = 4_000;
const RENEW_MS = 1_000;
/** Waits between two looks at the lanes: short while they take, up to a second else. */
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;
/** Rows read at once. */
const WINDOW = 200;

/** Replays what a job asks for, until it is done, cancelled, taken over or this process stops. */
export async function runReplays(parts: RunParts, id: string): Promise<void> {
  const stored = await readJob(parts.store, id);
  if (stored === undefined || stored.value.state !== "running") return;
  await new Run(parts, stored).whole();
}

/** What was read ahead of one lane. */
interface Ahead {
  found: StoredDelivery[];
  /** Where the next window begins; `undefined` behind the last row. */
  next?: string;
}

/**
 * One process's turn at one job. All it does is written over the job's version it knows: a
 * cancelled job, or one that another process took over, refuses everything that follows.
 */
class Run {
  readonly #parts: RunParts;
  readonly #ahead = new Map<string, Ahead>();
  #job: ReplayJob;
  #versionstamp: string;
  /** The job is no longer this process's. */
  #lost = false;

  constructor(parts: RunParts, { value, versionstamp }: StoredJob) {
    this.#parts = parts;
    this.#job = value;
    this.#versionstamp = versionstamp;
  }

  async whole(): Promise<void> {
    await this.#write({});
    let pauseMs = SHORTEST_PAUSE_MS;
    while (!this.#lost && !this.#parts.isStopped()) {
      const starved = pauseMs === LONGEST_PAUSE_MS;
      const moved = await this.#round(starved).catch((error) => this.#recover(error));
      if (this.#isThrough()) return await this.#finish();
      pauseMs = moved ? SHORTEST_PAUSE_MS : Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      await new Promise<void>((resolve) => this.#parts.clock.after(pauseMs, resolve));
    }
    if (!this.#lost) await this.#release();
  }

  /** Gives each lane what it has room for. Returns whether anything was replayed. */
  async #round(starved: boolean): Promise<boolean> {
    let moved = false;
    for (const [endpoint, { finished }] of Object.entries(this.#job.lanes)) {
      if (finished || this.#lost || this.#parts.isStopped()) continue;
      const lane = await this.#parts.lanes.find(endpoint);
      if (lane === undefined) this.#advance(endpoint, { finished: true });
      else moved = await this.#serve(lane, starved) || moved;
    }
    if (this.#leaseLeftMs() < LEASE_MS - RENEW_MS) await this.#write({});
    return moved;
  }

  async #serve(lane: Lane, starved: boolean): Promise<boolean> {
    let room = await this.#room(lane, starved);
    const had = room;
    while (room > 0 && !this.#lost) {
      const next = await this.#next(lane);
      if (next === undefined) break;
      if (await this.#replay(next)) room--;
    }
    if (room < had) this.#parts.schedule.wakeLane(lane);
    return room < had;
  }

  async #room(lane: Lane, starved: boolean): Promise<number> {
    const { store, lanes, clock } = this.#parts;
    const { concurrency, rateLimit } = lane.endpoint;
    await lanes.refresh(lane);
    const nowMs = clock.nowMs();
    const open = await dueAfter(store, lane.id, -1, BACKLOG + concurrency);
    const waits = open.length > 0 && open[0].dueAtMs <= nowMs;
    // Most likely a dead process's: nobody else looks at the lane before the next sweep.
    if (waits) this.#parts.schedule.wakeLane(lane);
    return replayRoom({
      gate: lane.gate(nowMs).go,
      concurrency,
      rateLimit,
      inFlight: lane.inFlight,
      open: open.length,
      waits,
      starved,
    });
  }

  /** The lane's next delivery to replay; its end is noted in the job. */
  async #next({ id }: Lane): Promise<StoredDelivery | undefined> {
    let ahead = this.#ahead.get(id);
    while (ahead === undefined || ahead.found.length === 0) {
      if (ahead !== undefined && ahead.next === undefined) {
        this.#advance(id, { finished: true });
        return undefined;
      }
      const after: string | undefined = ahead?.next ?? this.#job.lanes[id].after;
      const window = await replayable(this.#parts.store, id, this.#job.filter, WINDOW, after);
      ahead = { found: window.found, next: window.after };
      this.#ahead.set(id, ahead);
    }
    return ahead.found.shift();
  }

  /** Replays one delivery and notes it in the job, in one commit. */
  async #replay(before: StoredDelivery): Promise<boolean> {
    const { store, clock } = this.#parts;
    const { endpoint, id } = before.value;
    const nowMs = clock.nowMs();
    const job = this.#leased({
      done: this.#job.done + 1,
      lanes: { ...this.#job.lanes, [endpoint]: { after: id } },
    });
    const { check, mutation } = jobChange(job, this.#versionstamp);
    const written = await change(store, before, replayed(before.value, nowMs), {
      checks: [check],
      mutations: [mutation],
      counts: [replayCount(endpoint, nowMs)],
    });
    if (written === false) return await this.#again(before);
    this.#job = job;
    this.#versionstamp = written.versionstamp;
    return true;
  }

  /**
   * A check failed: the job is lost, or an earlier try has landed after it was given up, or the
   * delivery has changed and may not fit any more.
   */
  async #again({ value: { endpoint, id } }: StoredDelivery): Promise<boolean> {
    await this.#reload();
    if (this.#lost || this.#job.lanes[endpoint].after === id) return false;
    const fresh = await readDelivery(this.#parts.store, endpoint, id);
    return fresh !== undefined && fits(fresh.value, this.#job.filter)
      ? await this.#replay(fresh)
      : false;
  }

  /** After a failure the outcome is unknown: what the store has says where to go on. */
  async #recover(error: unknown): Promise<boolean> {
    const { log } = this.#parts;
    log("warn", "replay_job_waits", { job: this.#job.id, message: (error as Error).message });
    this.#ahead.clear();
    await this.#reload().catch(() => {});
    return false;
  }

  async #reload(): Promise<void> {
    const stored = await readJob(this.#parts.store, this.#job.id);
    const mine = stored?.value.state === "running" &&
      stored.value.lease?.owner === this.#parts.owner;
    if (!mine) this.#lost = true;
    else {
      this.#job = stored.value;
      this.#versionstamp = stored.versionstamp;
    }
  }

  #advance(endpoint: string, progress: { finished: true }): void {
    this.#job = { ...this.#job, lanes: { ...this.#job.lanes, [endpoint]: progress } };
  }

  #isThrough(): boolean {
    return !this.#lost && Object.values(this.#job.lanes).every(({ finished }) => finished);
  }

  #leaseLeftMs(): number {
    return (this.#job.lease?.untilMs ?? 0) - this.#parts.clock.nowMs();
  }

  #leased(changes: Partial<ReplayJob>): ReplayJob {
    const { owner, clock } = this.#parts;
    return { ...this.#job, ...changes, lease: { owner, untilMs: clock.nowMs() + LEASE_MS } };
  }

  async #write(changes: Partial<ReplayJob>): Promise<void> {
    const written = await writeJob(this.#parts.store, this.#leased(changes), this.#versionstamp);
    if (written === false) this.#lost = true;
    else {
      this.#job = written.value;
      this.#versionstamp = written.versionstamp;
    }
  }

  async #finish(): Promise<void> {
    const { log, clock } = this.#parts;
    const { id, done, total } = this.#job;
    await this.#write({
      state: "done",
      finishedAtMs: clock.nowMs(),
      total: Math.max(total, done),
      skipped: Math.max(0, total - done),
    });
    if (!this.#lost) log("info", "replay_job_done", { job: id, done, total });
  }

  async #release(): Promise<void> {
    const { lease: _, ...free } = this.#job;
    await writeJob(this.#parts.store, free, this.#versionstamp).catch(() => false);
  }
}
