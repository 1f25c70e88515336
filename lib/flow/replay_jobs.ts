import { LIMITS } from "../limits.ts";
import type { Clock, Log } from "../ports.ts";
import { listJobs } from "../store/jobs.ts";
import type { Store } from "../store/kv.ts";
import { LEASE_MS, type RunParts, runReplays } from "./run_replays.ts";

interface Parts extends Omit<RunParts, "isStopped"> {
  store: Store;
  clock: Clock;
  log: Log;
}

/** How often a process looks for jobs that nobody works on. */
const LOOK_MS = 15_000;
/** A lease that just runs out is looked at this much later. */
const MARGIN_MS = 50;
const JOBS_SEEN = 1_000;

/** Finds replay jobs whose process is gone, and works on them. */
export class ReplayJobs {
  readonly #parts: Parts;
  readonly #running = new Map<string, Promise<void>>();
  #cancelTimer: (() => void) | undefined;
  #stopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Looks now, and then every now and again. */
  look(): void {
    if (this.#stopped) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#pass().catch(() => LOOK_MS).then((waitMs) => {
      if (this.#stopped || this.#cancelTimer !== undefined) return;
      this.#cancelTimer = this.#parts.clock.after(waitMs, () => this.look());
    });
  }

  /** Ends the work here and gives the jobs back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer?.();
    await Promise.all(this.#running.values());
  }

  /** Starts what is free; returns when it is worth looking again. */
  async #pass(): Promise<number> {
    const { store, clock } = this.#parts;
    const nowMs = clock.nowMs();
    let waitMs = LOOK_MS;
    for (const { value: { id, state, lease } } of await listJobs(store, JOBS_SEEN)) {
      if (state !== "running" || this.#running.has(id)) continue;
      const freeInMs = (lease?.untilMs ?? nowMs) - nowMs;
      // A lease further ahead than any is that of a clock which was set back since.
      const isLeased = freeInMs > 0 && freeInMs <= LEASE_MS + LIMITS.clockErrorMs;
      if (isLeased) waitMs = Math.min(waitMs, freeInMs + MARGIN_MS);
      else this.#run(id);
    }
    return waitMs;
  }

  #run(id: string): void {
    const { log } = this.#parts;
    const running = runReplays({ ...this.#parts, isStopped: () => this.#stopped }, id)
      .catch((error) => log("error", "replay_job_failed", { job: id, message: error.message }))
      .finally(() => this.#running.delete(id));
    this.#running.set(id, running);
  }
}
