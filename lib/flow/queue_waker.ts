import type { Clock, Log } from "../ports.ts";
import { listenAlarms, setAlarm, tryQueue } from "../store/alarm.ts";
import type { Store } from "../store/kv.ts";

export type SchedulerMode = "auto" | "queue" | "sweep";

/** `unknown` until the first message has come back or was given up. */
export type QueueState = "off" | "unknown" | "works" | "unavailable";

/** A queue that has not brought our own message within this is taken for none. */
const PATIENCE_MS = 10_000;
/** Below this a timer alone is enough: whoever made the retry is still here. */
const SHORTEST_ALARM_MS = 1_000;
const SECONDS_KEPT = 4_096;

/**
 * Wake-ups through the KV queue, where the platform has one. One message a second at the
 * most, so that queue traffic does not grow with load. Deno Deploy and KV Connect have no
 * queue; then timers and cron alone keep every promise, and the status says so.
 */
export class QueueWaker {
  readonly #store: Store;
  readonly #mode: SchedulerMode;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #seconds = new Set<number>();
  #state: QueueState;
  #unavailableSinceMs: number | undefined;
  #cancelPatience: (() => void) | undefined;

  constructor(store: Store, mode: SchedulerMode, clock: Clock, log: Log) {
    this.#store = store;
    this.#mode = mode;
    this.#clock = clock;
    this.#log = log;
    this.#state = mode === "sweep" ? "off" : "unknown";
  }

  get mode(): SchedulerMode {
    return this.#mode;
  }

  get state(): QueueState {
    return this.#state;
  }

  /** When the queue was found to be away; `undefined` unless it is. */
  get unavailableSinceMs(): number | undefined {
    return this.#state === "unavailable" ? this.#unavailableSinceMs : undefined;
  }

  /** Listens, and finds out whether messages come at all. */
  start(onMessage: () => void): void {
    if (this.#state === "off") return;
    this.#cancelPatience = this.#clock.after(PATIENCE_MS, () => {
      if (this.#state === "unknown") this.#unavailable("no message came back");
    });
    this.#listen(onMessage).catch((error) => this.#unavailable((error as Error).message));
  }

  stop(): void {
    this.#cancelPatience?.();
  }

  /** Has a message sent for the second after `atMs`. Failures are left to the timers. */
  alarm(atMs: number): void {
    if (this.#state === "off" || this.#state === "unavailable") return;
    const nowMs = this.#clock.nowMs();
    const second = Math.ceil(atMs / 1_000);
    if (atMs - nowMs < SHORTEST_ALARM_MS || this.#seconds.has(second)) return;
    if (this.#seconds.size >= SECONDS_KEPT) this.#seconds.clear();
    this.#seconds.add(second);
    setAlarm(this.#store, second, nowMs).catch((error) => {
      this.#seconds.delete(second);
      this.#log("debug", "alarm_failed", { message: (error as Error).message });
    });
  }

  async #listen(onMessage: () => void): Promise<void> {
    const listening = listenAlarms(this.#store, () => {
      this.#works();
      onMessage();
    });
    await Promise.all([listening, tryQueue(this.#store)]);
  }

  #works(): void {
    this.#cancelPatience?.();
    if (this.#state === "unavailable") this.#log("info", "queue_works");
    this.#state = "works";
  }

  #unavailable(why: string): void {
    if (this.#state === "unavailable") return;
    this.#cancelPatience?.();
    this.#state = "unavailable";
    this.#unavailableSinceMs = this.#clock.nowMs();
    const level = this.#mode === "queue" ? "warn" : "info";
    this.#log(level, "queue_unavailable", { why, instead: "timers and cron wake the relay" });
  }
}
