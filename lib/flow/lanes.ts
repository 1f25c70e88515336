import { breakerAfter, type BreakerEvent } from "../decide/breaker.ts";
import { type Gate, gate } from "../decide/gate.ts";
import { healthAfter } from "../decide/health.ts";
import {
  breakerIn,
  canonical,
  forTarget,
  freshLane,
  type LaneRow,
  withBreaker,
} from "../decide/lane.ts";
import type { Endpoint } from "../endpoint.ts";
import { LIMITS } from "../limits.ts";
import type { LaneChange, Observe } from "../ports.ts";
import type { Store } from "../store/kv.ts";
import { readLane, writeLane } from "../store/lanes.ts";

/** How old a lane's row may be before it is read again: other processes change it too. */
const ROW_AGE_MS = 1_000;
const WRITE_TRIES = 20;
/** Least number of deliveries a lane may hold in memory, however few attempts it may make. */
const BURST = 64;

type Change = (row: LaneRow) => LaneRow;

/** One endpoint's lane as this process sees it. */
export class Lane {
  readonly endpoint: Endpoint;
  readonly fingerprint: string;
  row: LaneRow;
  /** Version `row` builds on; `undefined` until it was first read. */
  versionstamp: string | null | undefined;
  readAtMs = -Infinity;
  /** Attempts of this process under way. */
  running = 0;
  /** Claims of this process, those that wait for their turn included, and their bytes. */
  inFlight = 0;
  heldBytes = 0;
  /** Those of them that were claimed as they were accepted. */
  fresh = 0;
  /** Due deliveries wait that this process has not claimed. */
  behind = false;
  /** When somebody last gave it something to do, on the clock that only grows. */
  wantedAtMs = -Infinity;
  /** When the lane is to be looked at again. */
  nextAtMs = Infinity;
  unsaved: Change[] = [];
  saving: Promise<void> | undefined;
  reading: Promise<void> | undefined;

  constructor(endpoint: Endpoint, fingerprint: string) {
    this.endpoint = endpoint;
    this.fingerprint = fingerprint;
    this.row = freshLane(fingerprint);
  }

  get id(): string {
    return this.endpoint.id;
  }

  /** What the lane may do now, by its row as it is known or as another one would have it. */
  gate(nowMs: number, row: LaneRow = this.row): Gate {
    return gate({
      ...row,
      paused: row.pausedAtMs !== undefined,
      breaker: breakerIn(row, this.endpoint.breaker),
    }, nowMs);
  }

  /** Deliveries of one lane that may be in memory: a burst goes out without being read back. */
  get places(): number {
    const { concurrency, ordered, rateLimit } = this.endpoint;
    return ordered || rateLimit !== undefined ? concurrency : Math.max(BURST, 4 * concurrency);
  }

  /**
   * Newcomers that may be in memory. Beside a backlog they have no more places than it has,
   * so that neither starves the other: what is new need not wait for what is old.
   */
  get freshPlaces(): number {
    return this.behind ? 2 * this.endpoint.concurrency : this.places;
  }

  /** Deliveries the drain may claim: enough to keep every attempt busy, no more. */
  get room(): number {
    const { concurrency, ordered, rateLimit } = this.endpoint;
    const most = (ordered || rateLimit !== undefined ? 1 : 2) * concurrency;
    const claimed = this.inFlight - this.fresh;
    return Math.min(most - claimed, this.places - this.inFlight);
  }

  /** Whether there is room enough to claim the next ones together. */
  get needsMore(): boolean {
    return this.room >= this.endpoint.concurrency / 2;
  }
}

/** Finds an endpoint that is not configured, as relay mode's targets are not. */
export type FindEndpoint = (id: string) => Promise<Endpoint | undefined>;

/**
 * The lanes of all configured endpoints, and of those others that are in use, with their
 * stored rows. A change acts on the row
 * in memory at once, so that this process never breaks its own rules, and is then saved;
 * where another process was first, it is applied again to what that one wrote.
 */
export class Lanes {
  #store: Store;
  #observe: Observe;
  #fingerprintOf: (targetUrl: string) => string;
  #findEndpoint: FindEndpoint;
  #lanes = new Map<string, Lane>();

  constructor(
    store: Store,
    endpoints: Iterable<Endpoint>,
    fingerprintOf: (targetUrl: string) => string,
    observe: Observe,
    findEndpoint: FindEndpoint,
  ) {
    this.#store = store;
    this.#observe = observe;
    this.#fingerprintOf = fingerprintOf;
    this.#findEndpoint = findEndpoint;
    for (const endpoint of endpoints) this.#add(endpoint);
  }

  #add(endpoint: Endpoint): Lane {
    return this.keep(new Lane(endpoint, this.#fingerprintOf(endpoint.targetUrl)));
  }

  /** A lane by its id, also one that is not in memory; `undefined` where there is none. */
  async find(id: string): Promise<Lane | undefined> {
    const known = this.#lanes.get(id);
    if (known !== undefined) return known;
    const endpoint = await this.#findEndpoint(id);
    return endpoint && this.#add(endpoint);
  }

  /** The lane to go on with: this one, unless another one has taken its place in memory. */
  keep(lane: Lane): Lane {
    const present = this.#lanes.get(lane.id) ?? lane;
    this.#lanes.set(lane.id, present);
    return present;
  }

  /** Takes an idle lane out of memory; `find` brings it back. */
  forget(lane: Lane): void {
    this.#lanes.delete(lane.id);
  }

  get(endpoint: string): Lane | undefined {
    return this.#lanes.get(endpoint);
  }

  all(): IterableIterator<Lane> {
    return this.#lanes.values();
  }

  /** Reads the row again where what is known of it is too old. All who ask wait for one read. */
  async refresh(lane: Lane): Promise<void> {
    const ageMs = this.#store.clock.monotonicMs() - lane.readAtMs;
    if (lane.saving !== undefined || ageMs < ROW_AGE_MS) return;
    lane.reading ??= this.#read(lane).finally(() => lane.reading = undefined);
    await lane.reading;
  }

  /** Reads the row anew, however fresh: what an operator asks for starts from the truth. */
  async reread(lane: Lane): Promise<void> {
    await lane.saving;
    await lane.reading;
    lane.readAtMs = -Infinity;
    await this.refresh(lane);
  }

  async #read(lane: Lane): Promise<void> {
    const readAtMs = this.#store.clock.monotonicMs();
    const before = lane.versionstamp;
    const stored = await readLane(this.#store, lane.id);
    // A change made, or made and saved, while this was read is newer than the answer.
    if (lane.saving !== undefined || lane.versionstamp !== before) return;
    this.#load(lane, stored.row, stored.versionstamp);
    lane.readAtMs = readAtMs;
    // Saved, so that one change of the target starts one recovery, not one a reading.
    const atMs = this.#store.clock.nowMs();
    await this.update(lane, (row) => forTarget(row, lane.fingerprint, atMs));
  }

  /**
   * Changes a lane's row. Resolves once it is saved; look at `lane.row` then, since
   * another process may have been first and made `change` return the row as it was.
   */
  async update(lane: Lane, change: Change): Promise<void> {
    if (lane.versionstamp === undefined) await this.refresh(lane);
    const next = change(lane.row);
    if (next === lane.row) return;
    this.#set(lane, next);
    lane.unsaved.push(change);
    lane.saving ??= this.#save(lane);
    await lane.saving;
  }

  /** Tells breaker and health what an attempt brought. Never rejects. */
  attempted(lane: Lane, event: BreakerEvent & { type: "attempt" }, ok: boolean): Promise<void> {
    const { breaker: settings, disableAfterMs } = lane.endpoint;
    const change: Change = (row) => {
      const health = healthAfter(row.health, { ok, atMs: event.atMs }, { disableAfterMs });
      const breaker = settings === false ? row.breaker : breakerAfter(row.breaker, event, settings);
      return health === row.health && breaker === row.breaker
        ? row
        : { ...withBreaker(row, breaker, event.atMs), health };
    };
    return this.update(lane, change).catch(() => {});
  }

  /**
   * Whoever changes the row while this runs is saved by it, to its very last step. A change
   * that could not be saved is over: it must not come back after its caller was told so.
   */
  async #save(lane: Lane): Promise<void> {
    try {
      for (let tries = 0; lane.unsaved.length > 0; tries++) {
        if (tries === WRITE_TRIES) {
          throw new Error(`cannot save lane ${lane.id}: lost the race ${tries} times`);
        }
        await this.#saveOnce(lane);
      }
      lane.readAtMs = this.#store.clock.monotonicMs();
    } finally {
      lane.unsaved = [];
      lane.saving = undefined;
    }
  }

  async #saveOnce(lane: Lane): Promise<void> {
    const count = lane.unsaved.length;
    const written = await writeLane(this.#store, lane.id, lane.row, lane.versionstamp ?? null);
    if (written !== false) {
      lane.versionstamp = written;
      lane.unsaved.splice(0, count);
      return;
    }
    const stored = await readLane(this.#store, lane.id);
    this.#load(lane, stored.row, stored.versionstamp);
    const before = lane.row;
    lane.row = lane.unsaved.reduce((row, change) => change(row), before);
    if (lane.row === before) lane.unsaved = [];
  }

  #load(lane: Lane, row: LaneRow | null, versionstamp: string | null): void {
    lane.versionstamp = versionstamp;
    lane.row = row === null ? freshLane(lane.fingerprint) : canonical(row);
  }

  /** Tells of a change where it is made; whoever only reads it later says nothing. */
  #set(lane: Lane, row: LaneRow): void {
    const changes = changesBetween(lane.row, row);
    lane.row = row;
    for (const change of changes) {
      this.#observe({ type: "lane", atMs: this.#store.clock.nowMs(), endpoint: lane.id, change });
    }
  }
}

function changesBetween(before: LaneRow, after: LaneRow): LaneChange[] {
  const changes: LaneChange[] = [];
  if (before.breaker.phase !== after.breaker.phase) {
    changes.push(after.breaker.phase === "open" ? "opened" : "closed");
  }
  if (before.health.status !== after.health.status) {
    const recovered = before.health.status === "failing" && after.health.status === "enabled";
    changes.push(recovered ? "recovered" : after.health.status);
  }
  if ((before.pausedAtMs === undefined) !== (after.pausedAtMs === undefined)) {
    changes.push(after.pausedAtMs === undefined ? "resumed" : "paused");
  }
  return changes;
}

/** Bytes one delivery's body holds in memory while its attempt runs. */
export function heldBytesOf(bytes: number): number {
  return Math.min(bytes, LIMITS.wholeBodyBytes);
}
