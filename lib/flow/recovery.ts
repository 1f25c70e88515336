import type { LaneRow } from "../decide/lane.ts";
import { LIMITS } from "../limits.ts";
import type { Delivery } from "../model.ts";
import { dueAfter, dueBehind, readDue } from "../store/due.ts";
import type { DueEntry } from "../store/keys.ts";
import type { Store } from "../store/kv.ts";
import { type Candidate, candidates } from "./claim.ts";
import type { Lane, Lanes } from "./lanes.ts";
import type { Work } from "./work.ts";

/** Waiting entries read at once; sorted by age within such a window. */
const WINDOW = 20_000;

interface Parts {
  store: Store;
  lanes: Lanes;
  work: Work;
}

/** What one recovery has still to look at. */
interface Window {
  recoveryAtMs: number;
  /** Youngest first, so that the end is the oldest. */
  entries: DueEntry[];
  /** What was let out last: whoever asked may have found no room or no rate for some of it. */
  given: DueEntry[];
  /** Where the next window begins; `undefined` once the lane's last entry was read. */
  behind: DueEntry | undefined;
}

/**
 * Lets out what waited for a breaker: everything that is due later by its own back-off,
 * oldest first, each delivery once per recovery. No due entry is rewritten for it.
 */
export class Recoveries {
  readonly #store: Store;
  readonly #windows = new Map<string, Window>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Up to `limit` deliveries to let out now. Ends the lane's recovery when none is left. */
  async next(parts: Parts, lane: Lane, nowMs: number, limit: number): Promise<Candidate[]> {
    const { recovery } = lane.row;
    while (recovery !== undefined) {
      const window = await this.#window(parts, lane, recovery.atMs, nowMs);
      if (window === undefined) {
        this.#windows.delete(lane.id);
        await parts.lanes.update(lane, (row) => withoutRecovery(row, recovery.atMs));
        break;
      }
      const found = await candidates(
        parts.store,
        parts.work,
        window.entries.splice(-limit).reverse(),
      );
      const waited = found.filter(({ stored }) => isLetOut(stored.value, recovery.atMs, nowMs));
      if (waited.length === 0) continue;
      window.given = waited.map(({ entry }) => entry);
      return waited;
    }
    return [];
  }

  /** The window with entries left to look at; `undefined` behind the last one. */
  async #window(
    parts: Parts,
    lane: Lane,
    recoveryAtMs: number,
    nowMs: number,
  ): Promise<Window | undefined> {
    const before = this.#windows.get(lane.id);
    const same = before?.recoveryAtMs === recoveryAtMs ? before : undefined;
    if (same !== undefined) await takeBack(parts, same);
    if (same !== undefined && same.entries.length > 0) return same;
    if (same !== undefined && same.behind === undefined) return undefined;
    const entries = same?.behind === undefined
      ? await dueAfter(this.#store, lane.id, nowMs, WINDOW)
      : await dueBehind(this.#store, same.behind, WINDOW);
    if (entries.length === 0) return undefined;
    const behind = entries.length < WINDOW ? undefined : entries.at(-1);
    entries.sort((a, b) => a.id < b.id ? 1 : -1);
    const window = { recoveryAtMs, entries, given: [], behind };
    this.#windows.set(lane.id, window);
    return window;
  }
}

/** What was let out and not taken is next again. */
async function takeBack({ store, work }: Parts, window: Window): Promise<void> {
  const free = window.given.filter(({ id }) => !work.holds(id));
  window.given = [];
  const records = await readDue(store, free);
  const left = free.filter(({ dueAtMs }, index) => {
    const record = records[index]?.value;
    return record?.state === "pending" && record.dueAtMs === dueAtMs;
  });
  window.entries.push(...left.reverse());
}

/** A delivery is let out if it was not tried since, and not before the target's own word. */
export function isLetOut(delivery: Delivery, recoveryAtMs: number, nowMs: number): boolean {
  const last = delivery.attempts.at(-1);
  return delivery.state === "pending" &&
    (last === undefined || isTriedBefore(last.atMs, recoveryAtMs, nowMs)) &&
    (delivery.notBeforeMs ?? 0) <= nowMs;
}

/** Of two times one of which lies ahead, that one is older: the clock was set back since. */
function isTriedBefore(triedAtMs: number, recoveryAtMs: number, nowMs: number): boolean {
  const isAhead = (atMs: number) => atMs > nowMs + LIMITS.clockErrorMs;
  return isAhead(triedAtMs) === isAhead(recoveryAtMs)
    ? triedAtMs < recoveryAtMs
    : isAhead(triedAtMs);
}

function withoutRecovery(row: LaneRow, atMs: number): LaneRow {
  if (row.recovery?.atMs !== atMs) return row;
  const { recovery: _, ...rest } = row;
  return rest;
}
