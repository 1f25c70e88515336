import { withoutProbe } from "../decide/lane.ts";
import { LOOK_PAUSE_MS } from "./claim.ts";
import { deliver, type Delivered, type DeliverParts, type Job } from "./deliver.ts";
import type { Lane } from "./lanes.ts";
import type { Work } from "./work.ts";

export interface AttemptsParts extends DeliverParts {
  work: Work;
}

/** What the attempts tell the drain. */
export interface AttemptsWatcher {
  /** A delivery of the lane is due again, in epoch milliseconds. */
  onRetry: (lane: Lane, atMs: number) => void;
  /** The lane has room again, or what it may do has changed. */
  onRoom: (lane: Lane) => void;
  onFailed: (doing: string, error: unknown) => void;
}

/**
 * Carries out claimed attempts, at most `concurrency` of a lane at once. The others wait
 * in memory with their request at hand, so that a burst goes out without being read back;
 * they are given back unattempted when the lane may not send any more.
 */
export class Attempts {
  readonly #parts: AttemptsParts;
  readonly #watcher: AttemptsWatcher;
  readonly #lines = new Map<Lane, Job[]>();

  constructor(parts: AttemptsParts, watcher: AttemptsWatcher) {
    this.#parts = parts;
    this.#watcher = watcher;
  }

  /**
   * Makes the attempt now, or as soon as one of the lane's ends. Where the lane was closed
   * while the delivery was being claimed, it is given back.
   */
  start(job: Job): void {
    const { lane } = job.claim.slot;
    const open = job.probe || this.#isOpen(lane);
    if (open && lane.running < lane.endpoint.concurrency) return this.#run(job);
    const line = this.#lines.get(lane);
    if (line === undefined) this.#lines.set(lane, [job]);
    else line.push(job);
    if (!open) this.#giveBackSoon(lane);
  }

  /** Gives back what waits in a lane, due as before. Resolves when that is stored. */
  async giveBack(lane: Lane): Promise<void> {
    const line = this.#lines.get(lane) ?? [];
    this.#lines.delete(lane);
    if (line.length === 0) return;
    lane.behind = true;
    await Promise.all(line.map(({ claim }) => claim.held.release(claim.previousDueAtMs)));
    for (const job of line) this.#leave(job);
    this.#watcher.onRoom(lane);
  }

  /** Gives back what waits in all lanes. */
  async giveBackAll(): Promise<void> {
    await Promise.all(Array.from(this.#lines.keys(), (lane) => this.giveBack(lane)));
  }

  /**
   * The target counts as busy until it is done with the attempt; the store may still be
   * told of one while the next is under way. The delivery keeps its place until both.
   */
  #run(job: Job): void {
    const { lane } = job.claim.slot;
    lane.running++;
    const made = deliver(this.#parts, job);
    const over = made.then(({ ended }) => ended).catch(() => {}).then(() => {
      lane.running--;
      this.#next(lane);
    });
    this.#settle(job, made)
      .catch((error) => this.#putOff(job, error))
      .then(() => over)
      .then(() => {
        this.#leave(job);
        this.#watcher.onRoom(lane);
      });
  }

  async #settle({ claim: { held, slot } }: Job, made: Promise<Delivered>): Promise<void> {
    const outcome = await (await made).settled;
    this.#parts.work.drop(held);
    if (outcome?.to === "retry") this.#watcher.onRetry(slot.lane, outcome.retryAtMs);
    // Somebody else changed it meanwhile: it may be due again already.
    if (outcome === undefined) this.#watcher.onRetry(slot.lane, this.#parts.clock.nowMs());
  }

  /** Nothing was sent, since the store did not give the request: the delivery is due again soon. */
  async #putOff({ claim: { held, slot: { lane } }, probe }: Job, error: unknown): Promise<void> {
    const { clock, lanes, owner } = this.#parts;
    const { id } = held.delivery;
    this.#watcher.onFailed(`deliver ${id}`, error);
    const atMs = clock.nowMs() + LOOK_PAUSE_MS;
    await held.release(atMs);
    if (probe) await lanes.update(lane, (row) => withoutProbe(row, owner, id)).catch(() => {});
    this.#watcher.onRetry(lane, atMs);
  }

  #leave({ claim }: Job): void {
    this.#parts.work.drop(claim.held);
    this.#parts.work.free(claim.slot);
  }

  #next(lane: Lane): void {
    const open = this.#isOpen(lane);
    if (!open) this.#giveBackSoon(lane);
    const job = open ? this.#lines.get(lane)?.shift() : undefined;
    if (job !== undefined) this.#run(job);
  }

  #isOpen(lane: Lane): boolean {
    return lane.gate(this.#parts.clock.nowMs()).go === "all";
  }

  #giveBackSoon(lane: Lane): void {
    this.giveBack(lane).catch((error) => this.#watcher.onFailed(`give back ${lane.id}`, error));
  }
}
