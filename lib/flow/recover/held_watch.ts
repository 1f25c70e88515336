import { isFree } from "../../decide/lane.ts";
import { freshWatch, type WatchRow } from "../../decide/github/watch.ts";
import type { Store } from "../../store/kv.ts";
import { dropWish, type FindingChanges, readWatch, writeWatch } from "../../store/watch.ts";

/** Outlives the slowest step between two writes: a timed out request, repeated once. */
const LEASE_MS = 60_000;

/**
 * A watched hook's row in the hands of the one process that may change it. Every write
 * renews the lease; one that is refused ends the pass, for another process has taken over.
 */
export class HeldWatch {
  constructor(
    private readonly store: Store,
    private readonly owner: string,
    readonly endpoint: string,
    public row: WatchRow,
    private versionstamp: string | null,
    /** An operator asked for this pass. */
    readonly wanted: boolean,
  ) {}

  /** Writes the row, and changed findings with it. `false`: the lease is lost. */
  async save(findings?: FindingChanges): Promise<boolean> {
    const untilMs = this.store.clock.nowMs() + LEASE_MS;
    return await this.#write({ ...this.row, lease: { owner: this.owner, untilMs } }, findings);
  }

  /** Writes the row and gives it back. */
  async release(): Promise<void> {
    const { lease: _, ...free } = this.row;
    await this.#write(free);
  }

  async #write(row: WatchRow, findings?: FindingChanges): Promise<boolean> {
    const written = await writeWatch(this.store, this.endpoint, row, this.versionstamp, findings);
    if (written === false) return false;
    this.row = row;
    this.versionstamp = written;
    return true;
  }
}

/** A watch that was taken, or when it is worth looking again. */
export type Taken = { held: HeldWatch } | { lookAtMs: number };

/**
 * Takes a watched hook for a pass, if one is due or wanted, no other process has it, and
 * GitHub's breaker would let a request through.
 * A first look at all stores the baseline: what GitHub delivered before is handled.
 */
export async function takeWatch(
  store: Store,
  owner: string,
  endpoint: string,
  startedAtMs: number,
): Promise<Taken> {
  const { row: stored, versionstamp, wantedStamp } = await readWatch(store, endpoint);
  const nowMs = store.clock.nowMs();
  const row = stored ?? freshWatch(startedAtMs);
  const wanted = wantedStamp !== null;
  if (!wanted && row.nextPassAtMs > nowMs) return { lookAtMs: row.nextPassAtMs };
  const { phase, openUntilMs = 0 } = row.breaker;
  if (phase === "open" && openUntilMs > nowMs) return { lookAtMs: openUntilMs };
  if (!isFree(row.lease, owner, nowMs)) return { lookAtMs: row.lease?.untilMs ?? nowMs };
  const held = new HeldWatch(store, owner, endpoint, row, versionstamp, wanted);
  if (!await held.save()) return { lookAtMs: nowMs + LEASE_MS };
  if (wantedStamp !== null) await dropWish(store, endpoint, wantedStamp);
  return { held };
}
