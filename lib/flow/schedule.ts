import { LIMITS } from "../limits.ts";
import type { Clock } from "../ports.ts";
import { LOOK_PAUSE_MS } from "./claim.ts";
import type { ClockWatch } from "./clock_watch.ts";
import type { Drain } from "./drain.ts";
import type { Lane, Lanes } from "./lanes.ts";
import type { QueueWaker } from "./queue_waker.ts";
import type { Work } from "./work.ts";

interface Parts {
  drain: Drain;
  lanes: Lanes;
  work: Work;
  clock: Clock;
  clockWatch: ClockWatch;
  queue: QueueWaker;
  /** Looks for lanes that others left something in: whether it could. Never rejects. */
  relayLanes: { look(): Promise<boolean> };
}

/** How long a cron pass rests between two looks at whether it may end. */
const CRON_STEP_MS = 1_000;

/**
 * Says when to look, never what to do: every source of wake-ups ends here, and here alone
 * the drain is started. A lost, doubled or late wake-up costs time, never a delivery.
 */
export class Schedule {
  readonly #parts: Parts;
  #cancelTimer: (() => void) | undefined;
  /** When the timer rings, on the clock that only grows. */
  #ringsAtMs = Infinity;
  /** Steps of the clock after which all lanes were looked at. */
  #setBacks = 0;
  #sweptAtMs = -Infinity;
  /** When to look for lanes again, since the store did not tell of them. */
  #findAtMs = Infinity;
  #stopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** When all lanes were last looked at, on the clock that only grows. */
  get sweptAtMs(): number {
    return this.#sweptAtMs;
  }

  /** Starts timers and the queue's listener, and looks at everything once. */
  start(): void {
    this.#parts.queue.start(() => this.wakeAll());
    this.wakeAll();
  }

  /** Ends all wake-ups; what waits in memory is given back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer?.();
    this.#parts.queue.stop();
    await this.#parts.drain.stop();
  }

  /** Looks at one endpoint's lane now. */
  wake(endpoint: string): void {
    const { lanes } = this.#parts;
    const lane = lanes.get(endpoint);
    if (lane !== undefined) this.#want(lane);
    else lanes.find(endpoint).then((found) => found && this.#want(found), () => this.#findSoon());
  }

  #want(lane: Lane): void {
    lane.wantedAtMs = this.#parts.clock.monotonicMs();
    this.wakeLane(lane);
  }

  wakeLane(lane: Lane): void {
    if (!this.#stopped) this.#parts.drain.wake(lane);
  }

  /** Looks at every lane now. */
  wakeAll(): void {
    if (this.#stopped) return;
    this.#sweptAtMs = this.#parts.clock.monotonicMs();
    for (const lane of this.#parts.lanes.all()) this.#parts.drain.wake(lane);
    this.#findLanes();
    this.#setTimer();
  }

  async #findLanes(): Promise<void> {
    this.#findAtMs = Infinity;
    if (!await this.#parts.relayLanes.look()) this.#findSoon();
  }

  #findSoon(): void {
    if (this.#stopped) return;
    this.#findAtMs = this.#parts.clock.nowMs() + LOOK_PAUSE_MS;
    this.#setTimer();
  }

  /** A lane has something to do at `atMs`: a timer wakes this process, an alarm any. */
  lookAt(lane: Lane, atMs: number): void {
    if (this.#stopped) return;
    const kept = this.#parts.lanes.keep(lane);
    if (atMs >= kept.nextAtMs) return;
    kept.nextAtMs = atMs;
    this.#setTimer();
    this.#parts.queue.alarm(atMs);
  }

  /**
   * One cron pass: wakes everything and stays as long as something is under way or comes
   * due within the pass, so that a platform which sleeps between requests keeps awake.
   */
  async cronPass(): Promise<void> {
    const { clock, drain } = this.#parts;
    const endMs = clock.monotonicMs() + LIMITS.cronPassMs;
    this.wakeAll();
    await this.#findLanes();
    await drain.whenQuiet();
    while (!this.#stopped && clock.monotonicMs() < endMs && this.#isBusyUntil(endMs)) {
      await new Promise<void>((resolve) => clock.after(CRON_STEP_MS, resolve));
    }
  }

  #isBusyUntil(endMs: number): boolean {
    const { clock, work } = this.#parts;
    const leftMs = endMs - clock.monotonicMs();
    return work.inFlight > 0 || this.#nextAtMs() <= clock.nowMs() + leftMs;
  }

  #nextAtMs(): number {
    let next = this.#findAtMs;
    for (const lane of this.#parts.lanes.all()) next = Math.min(next, lane.nextAtMs);
    return next;
  }

  /** One timer for the soonest lane, never asleep for longer than a sweep. */
  #setTimer(): void {
    const { clock } = this.#parts;
    const waitMs = Math.max(0, Math.min(this.#nextAtMs() - clock.nowMs(), LIMITS.sweepMs));
    const ringsAtMs = clock.monotonicMs() + waitMs;
    // The two clocks do not tick together: a millisecond is no reason for another timer.
    if (this.#cancelTimer !== undefined && this.#ringsAtMs <= ringsAtMs + 1) return;
    this.#cancelTimer?.();
    this.#ringsAtMs = ringsAtMs;
    this.#cancelTimer = clock.after(waitMs, () => this.#ring());
  }

  /** Whether the clock was set back since this was last asked. */
  #isSetBack(): boolean {
    const before = this.#setBacks;
    this.#setBacks = this.#parts.clockWatch.setBacks();
    return this.#setBacks > before;
  }

  #ring(): void {
    this.#cancelTimer = undefined;
    const { clock, lanes } = this.#parts;
    if (this.#isSetBack() || clock.monotonicMs() - this.#sweptAtMs >= LIMITS.sweepMs) {
      for (const lane of lanes.all()) lane.nextAtMs = Infinity;
      return this.wakeAll();
    }
    const nowMs = clock.nowMs();
    for (const lane of lanes.all()) {
      if (lane.nextAtMs > nowMs) continue;
      lane.nextAtMs = Infinity;
      this.wakeLane(lane);
    }
    if (this.#findAtMs <= nowMs) this.#findLanes();
    this.#setTimer();
  }
}
