import { createHash } from "node:crypto";
import type { Endpoint } from "../endpoint.ts";
import { relayLaneId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import type { Clock, Observe } from "../ports.ts";
import type { RelaySettings } from "../relay_settings.ts";
import { dropTarget, lanesWithTarget } from "../store/active.ts";
import type { Store } from "../store/kv.ts";
import { PRUNE_BATCH, pruneDeliveries, pruneStats } from "../store/prune.ts";
import { sweepStaging } from "../store/staging.ts";
import { minuteOf } from "../store/write.ts";

interface Parts {
  store: Store;
  clock: Clock;
  endpoints: ReadonlyMap<string, Endpoint>;
  relay?: RelaySettings;
  observe: Observe;
}

const EVERY_MS = 5 * 60_000;
/** Of each five minutes the part in which cron comes by once. */
const CRON_SLOT_MS = 60_000;
/** One pass ends here even if more is left; the next one goes on. */
const BATCHES = 200;
/** Relay mode may have many thousand lanes: each pass looks at some and goes on behind them. */
const RELAY_LANES = 500;

const entryAt = (nowMs: number) =>
  relayLaneId(createHash("sha256").update(String(nowMs)).digest("hex"));

/**
 * Deletes what is past its time, every five minutes: by a timer, and by cron where no process
 * lives for so long. Any number of processes may do so.
 */
export class Housekeeping {
  readonly #parts: Parts;
  #cancel: (() => void) | undefined;
  #stopped = false;
  #passedAtMs = -Infinity;
  #behindSinceMs: number | undefined;
  #relayLanesAfter: string | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Since when old rows are left over by each pass, in epoch milliseconds. */
  get behindSinceMs(): number | undefined {
    return this.#behindSinceMs;
  }

  start(): void {
    if (this.#stopped) return;
    this.#cancel = this.#parts.clock.after(EVERY_MS, () => {
      this.pass().finally(() => this.start());
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  /**
   * Called by each cron pass: of five minutes the first makes a pass, in whichever process it
   * runs, unless that one has made one lately.
   */
  async cronPass(): Promise<void> {
    const { clock } = this.#parts;
    const isFirst = clock.nowMs() % EVERY_MS < CRON_SLOT_MS;
    if (isFirst && clock.monotonicMs() - this.#passedAtMs >= EVERY_MS) await this.pass();
  }

  /** One pass over everything. A failing store is told of and tried again next time. */
  async pass(): Promise<void> {
    const { store, clock, endpoints, observe } = this.#parts;
    const startedAtMs = clock.nowMs();
    this.#passedAtMs = clock.monotonicMs();
    let left = false;
    try {
      await sweepStaging(store, startedAtMs, PRUNE_BATCH);
      for (const endpoint of endpoints.values()) left = await this.#prune(endpoint) || left;
      left = await this.#pruneRelayLanes() || left;
    } catch (error) {
      left = true;
      observe({
        type: "store_error",
        atMs: clock.nowMs(),
        doing: "prune",
        message: (error as Error).message,
      });
    }
    this.#behindSinceMs = left ? this.#behindSinceMs ?? startedAtMs : undefined;
  }

  async #pruneRelayLanes(): Promise<boolean> {
    const { store, relay } = this.#parts;
    if (relay === undefined) return false;
    const ids = await this.#nextRelayLanes();
    this.#relayLanesAfter = ids.at(-1);
    let left = false;
    for (const id of ids) {
      left = await this.#prune({ ...relay.endpoint, id }) || left;
      await dropTarget(store, id);
    }
    return left;
  }

  /** Lanes are a ring, and each process enters it elsewhere: it may live for one pass only. */
  async #nextRelayLanes(): Promise<string[]> {
    const { store, clock } = this.#parts;
    const after = this.#relayLanesAfter ?? entryAt(clock.nowMs());
    const ids = await lanesWithTarget(store, after, RELAY_LANES);
    if (ids.length === RELAY_LANES) return ids;
    const first = await lanesWithTarget(store, undefined, RELAY_LANES - ids.length);
    return [...new Set([...ids, ...first])];
  }

  /** Returns whether rows past their time are left. */
  async #prune({ id, retentionMs, deadRetentionMs }: Endpoint): Promise<boolean> {
    const { store, clock } = this.#parts;
    const nowMs = clock.nowMs();
    const cutoff = {
      deliveredBeforeMs: nowMs - retentionMs,
      deadBeforeMs: deadRetentionMs === undefined ? -Infinity : nowMs - deadRetentionMs,
    };
    let after: string | undefined;
    for (let batch = 0; batch < BATCHES && !this.#stopped; batch++) {
      after = await pruneDeliveries(store, id, cutoff, after);
      if (after === undefined) break;
    }
    const oldestMinute = minuteOf(nowMs - LIMITS.statMs);
    while (!this.#stopped && await pruneStats(store, id, oldestMinute));
    return after !== undefined;
  }
}
