import { renewed } from "../decide/transition.ts";
import { rowSetBack, waitingAnew } from "../decide/set_back.ts";
import { LIMITS } from "../limits.ts";
import type { Clock } from "../ports.ts";
import { change } from "../store/door.ts";
import { dueAfter, dueBehind, readDue } from "../store/due.ts";
import type { DueEntry } from "../store/keys.ts";
import type { Store, StoredDelivery } from "../store/kv.ts";
import { hasCountsAfter } from "../store/stats.ts";
import { minuteOf } from "../store/write.ts";
import type { ClockWatch } from "./clock_watch.ts";
import type { Lane, Lanes } from "./lanes.ts";
import type { Work } from "./work.ts";

interface Parts {
  store: Store;
  lanes: Lanes;
  work: Work;
  clock: Clock;
  clockWatch: ClockWatch;
  leaseMs: number;
  onDue: (lane: Lane, atMs: number) => void;
}

/** Leases of others that end later than a new one would, on the clock that only grows. */
interface Strangers {
  entries: DueEntry[];
  sinceMs: number;
}

const BATCH = 500;

/**
 * Puts a lane's times right after the clock was set back, before anything is looked for by
 * them: at the lane's first turn after the step, and at its first turn in a process's life
 * where the counters tell of minutes that are still to come.
 */
export class DueTimes {
  readonly #parts: Parts;
  /** Up to which step of the clock each lane's times are right. */
  readonly #rightUpTo = new WeakMap<Lane, number>();
  readonly #strangers = new WeakMap<Lane, Strangers>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Rejects where the store fails; what is right already stays so. */
  async putRight(lane: Lane): Promise<void> {
    await this.#rowInTime(lane);
    const setBacks = this.#parts.clockWatch.setBacks();
    const known = this.#rightUpTo.get(lane);
    if (known !== setBacks) {
      if (known !== undefined || await this.#isFromAhead(lane)) await this.#mend(lane);
      this.#rightUpTo.set(lane, setBacks);
    }
    await this.#endLapsed(lane);
  }

  #isFromAhead({ id }: Lane): Promise<boolean> {
    const { store, clock } = this.#parts;
    return hasCountsAfter(store, id, minuteOf(clock.nowMs() + LIMITS.clockErrorMs));
  }

  /** At every turn: the row's times may be those of another process, whose clock was ahead. */
  async #rowInTime(lane: Lane): Promise<void> {
    const { lanes, clock, leaseMs } = this.#parts;
    const { breaker, timeoutMs } = lane.endpoint;
    const longestMs = Math.max(leaseMs, timeoutMs + 1_000);
    await lanes.update(lane, (row) => rowSetBack(row, clock.nowMs(), longestMs, breaker));
  }

  async #mend(lane: Lane): Promise<void> {
    const { store, clock, leaseMs, onDue } = this.#parts;
    const nowMs = clock.nowMs();
    const strangers: DueEntry[] = [];
    let batch = await dueAfter(store, lane.id, nowMs + LIMITS.clockErrorMs, BATCH);
    while (batch.length > 0) {
      strangers.push(...await this.#mendBatch(batch, nowMs));
      batch = await dueBehind(store, batch[batch.length - 1], BATCH);
    }
    if (strangers.length === 0) return;
    this.#strangers.set(lane, { entries: strangers, sinceMs: clock.monotonicMs() });
    onDue(lane, nowMs + leaseMs);
  }

  /** Returns the leases that only others can renew. */
  async #mendBatch(batch: readonly DueEntry[], nowMs: number): Promise<DueEntry[]> {
    const { store, work, leaseMs } = this.#parts;
    const records = await this.#recordsOf(batch);
    await Promise.all(records.map(async (stored) => {
      const anew = waitingAnew(stored.value, nowMs);
      if (anew !== undefined) await change(store, stored, anew);
    }));
    const latestMs = nowMs + leaseMs + LIMITS.clockErrorMs;
    const strange = records.filter(({ value: { state, id, dueAtMs = 0 } }) =>
      state === "in_flight" && dueAtMs > latestMs && !work.holds(id)
    );
    return strange.map(({ value: { endpoint, id, dueAtMs = 0 } }) => ({ endpoint, id, dueAtMs }));
  }

  /** A lease that nobody has renewed for as long as a lease lasts is a dead process's. */
  async #endLapsed(lane: Lane): Promise<void> {
    const { store, work, clock, leaseMs } = this.#parts;
    const strangers = this.#strangers.get(lane);
    if (strangers === undefined || clock.monotonicMs() - strangers.sinceMs < leaseMs) return;
    const left = await this.#recordsOf(strangers.entries);
    await Promise.all(left.map(async (stored) => {
      if (stored.value.state !== "in_flight" || work.holds(stored.value.id)) return;
      await change(store, stored, renewed(stored.value, clock.nowMs()));
    }));
    this.#strangers.delete(lane);
  }

  /** The records that are due as their entries say. */
  async #recordsOf(entries: readonly DueEntry[]): Promise<StoredDelivery[]> {
    const records = await readDue(this.#parts.store, entries);
    return records.filter((stored, index) => stored?.value.dueAtMs === entries[index].dueAtMs)
      .filter((stored) => stored !== undefined);
  }
}
