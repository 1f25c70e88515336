import type { PayloadHead } from "../model.ts";
import type { AfterWrites, Clock } from "../ports.ts";
import { dueAfter, dueUntil } from "../store/due.ts";
import type { DueEntry } from "../store/keys.ts";
import type { Store } from "../store/kv.ts";
import { readPayloadHeads } from "../store/payload.ts";
import { reserveAttempts } from "../store/rate.ts";
import { type Candidate, candidates, type Claim, claim, LOOK_PAUSE_MS } from "./claim.ts";
import { Attempts } from "./attempts.ts";
import type { DeliverParts } from "./deliver.ts";
import type { DueTimes } from "./due_times.ts";
import type { Lane, Lanes } from "./lanes.ts";
import { ordered } from "./ordered.ts";
import type { RequestAtHand } from "./outgoing.ts";
import { probe } from "./probe.ts";
import { Recoveries } from "./recovery.ts";
import type { Work } from "./work.ts";

/** Deliveries one lane may claim before the next lane has its turn. */
const TURN = 64;

export interface DrainParts extends DeliverParts {
  store: Store;
  lanes: Lanes;
  work: Work;
  clock: Clock;
  afterWrites: AfterWrites;
  leaseMs: number;
  dueTimes: DueTimes;
  /** Told when a lane has something to do later, in epoch milliseconds. */
  onDue: (lane: Lane, atMs: number) => void;
  /** Told when a lane's breaker holds it. */
  onOpen: (lane: Lane) => void;
}

/** What a lane could send, as of the moment it was looked at. */
interface Wanted {
  candidates: Candidate[];
  /** Whether there may be more than was read. */
  more: boolean;
  asOfMs: number;
}

/**
 * Looks at what is due and has it delivered. A wake carries no data: what to do is read
 * from the store each time. Lanes take turns; no lane waits for another one's attempts.
 */
export class Drain {
  readonly #parts: DrainParts;
  readonly #recoveries: Recoveries;
  readonly #attempts: Attempts;
  /** Lanes to look at, in the order they asked. */
  readonly #wanting = new Set<Lane>();
  #pass: Promise<void> | undefined;
  #stopped = false;

  constructor(parts: DrainParts) {
    this.#parts = parts;
    this.#recoveries = new Recoveries(parts.store);
    this.#attempts = new Attempts(parts, {
      onRetry: (lane, atMs) => this.#lookAgain(lane, atMs),
      onRoom: (lane) => this.#afterAttempt(lane),
      onFailed: (doing, error) => this.#failed(doing, error),
    });
  }

  /** Looks at one lane soon. Woken during a pass, it is looked at once more. */
  wake(lane: Lane): void {
    if (this.#stopped) return;
    this.#wanting.add(lane);
    this.#pass ??= this.#run();
  }

  /** Makes the first attempt of a delivery that was claimed when it was accepted, its sender being answered first. */
  take(claimed: Claim, atHand?: RequestAtHand): void {
    const job = { claim: claimed, probe: false, atHand };
    this.#parts.afterWrites(() => this.#attempts.start(job));
  }

  /**
   * Claims nothing more and gives back what only waits. Resolves when the last pass is over,
   * too; attempts that are under way go on.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wanting.clear();
    await this.whenQuiet();
    await this.#attempts.giveBackAll();
  }

  /** Resolves when no lane asks to be looked at. Attempts may still be under way. */
  async whenQuiet(): Promise<void> {
    while (this.#pass !== undefined) await this.#pass;
  }

  async #run(): Promise<void> {
    await Promise.resolve();
    for (const lane of this.#wanting) {
      this.#wanting.delete(lane);
      try {
        const more = await this.#turn(lane);
        if (more && !this.#stopped) this.#wanting.add(lane);
      } catch (error) {
        this.#failed(`drain ${lane.id}`, error);
        this.#lookAgain(lane, this.#parts.clock.nowMs() + LOOK_PAUSE_MS);
      }
    }
    // In the same step as the last look: a wake between the two would be lost.
    this.#pass = undefined;
  }

  /** One lane's turn. Returns whether it could go on at once. */
  async #turn(lane: Lane): Promise<boolean> {
    const { lanes, clock, dueTimes } = this.#parts;
    await lanes.refresh(lane);
    await dueTimes.putRight(lane);
    if (this.#stopped) return false;
    const gate = lane.gate(clock.nowMs());
    if (gate.go === "none") {
      lane.behind = true;
      await this.#attempts.giveBack(lane);
      if (gate.untilMs !== undefined) this.#lookAgain(lane, gate.untilMs);
      if (gate.why === "open") this.#parts.onOpen(lane);
      return false;
    }
    // Behind attempts that still hang a probe would only wait until its lease is over.
    const full = gate.go === "probe" && lane.running >= lane.endpoint.concurrency;
    if (full || lane.room <= 0) {
      lane.behind = true;
      return false;
    }
    if (gate.go === "probe") return await this.#probeTurn(lane);
    if (lane.endpoint.ordered) return await this.#orderedTurn(lane);
    return await this.#openTurn(lane);
  }

  async #probeTurn(lane: Lane): Promise<boolean> {
    lane.behind = true;
    await this.#startAll(await probe(this.#parts, lane), true);
    const { breaker } = lane.row;
    if (breaker.probe !== undefined) this.#lookAgain(lane, breaker.probe.untilMs);
    return false;
  }

  /** Strict order: at most one delivery, the lane's head. */
  async #orderedTurn(lane: Lane): Promise<boolean> {
    const found = await ordered(this.#parts, lane);
    if (found.lookAgainAtMs !== undefined) this.#lookAgain(lane, found.lookAgainAtMs);
    await this.#startAll(found.claims, false);
    return false;
  }

  async #openTurn(lane: Lane): Promise<boolean> {
    const wanted = await this.#wantedOf(lane, Math.min(TURN, lane.room));
    const granted = await this.#granted(lane, wanted.candidates);
    const { claims, full } = await claim(this.#parts, lane, granted);
    await this.#startAll(claims, false);
    const held = full || granted.length < wanted.candidates.length;
    lane.behind = held || wanted.more;
    if (!lane.behind) await this.#noteNext(lane, wanted.asOfMs);
    return wanted.more && !held && lane.room > 0;
  }

  /** What is due by its own schedule, else what a recovery lets out early. */
  async #wantedOf(lane: Lane, limit: number): Promise<Wanted> {
    const { store, work, clock } = this.#parts;
    const nowMs = clock.nowMs();
    const isFree = (entry: DueEntry) => !work.holds(entry.id);
    let entries = await dueUntil(store, lane.id, nowMs, limit);
    // Claims of this process whose renewal is late lie in the past: look beyond those.
    if (!entries.every(isFree)) {
      entries = await dueUntil(store, lane.id, nowMs, limit + lane.inFlight);
    }
    const free = entries.filter(isFree).slice(0, limit);
    const due = await candidates(store, work, free);
    if (lane.row.recovery === undefined || free.length === limit) {
      return { candidates: due, more: free.length === limit, asOfMs: nowMs };
    }
    const early = await this.#recoveries.next(this.#parts, lane, nowMs, limit - due.length);
    return { candidates: [...due, ...early], more: lane.row.recovery !== undefined, asOfMs: nowMs };
  }

  /** Cuts the wanted to what `rateLimit` allows now. */
  async #granted(lane: Lane, wanted: Candidate[]): Promise<Candidate[]> {
    const { rateLimit } = lane.endpoint;
    if (rateLimit === undefined || wanted.length === 0) return wanted;
    const { granted, nextAtMs } = await reserveAttempts(
      this.#parts.store,
      lane.id,
      rateLimit,
      wanted.length,
    );
    if (granted < wanted.length) this.#lookAgain(lane, nextAtMs);
    return wanted.slice(0, granted);
  }

  /** `asOfMs` is when the due were read: what came due since is next, not past. */
  async #noteNext(lane: Lane, asOfMs: number): Promise<void> {
    const [next] = await dueAfter(this.#parts.store, lane.id, asOfMs, 1);
    if (next !== undefined) this.#lookAgain(lane, next.dueAtMs);
  }

  #lookAgain(lane: Lane, atMs: number): void {
    this.#parts.onDue(lane, atMs);
  }

  /** Starts the attempts; requests that fit one row are read together. */
  async #startAll(claims: Claim[], isProbe: boolean): Promise<void> {
    const small = claims.filter(({ held }) => held.delivery.chunks === 1);
    const heads = await readPayloadHeads(
      this.#parts.store,
      small.map(({ held }) => held.delivery.id),
    )
      .catch(() => new Map<string, PayloadHead>());
    for (const one of claims) {
      const head = heads.get(one.held.delivery.id);
      const atHand = head && { head, body: head.body };
      this.#attempts.start({ claim: one, probe: isProbe, atHand });
    }
  }

  #failed(doing: string, error: unknown): void {
    const { clock, observe } = this.#parts;
    observe({ type: "store_error", atMs: clock.nowMs(), doing, message: (error as Error).message });
  }

  /** Room serves the lane's backlog; a lane without one needs no look. */
  #afterAttempt(lane: Lane): void {
    const clear = lane.gate(this.#parts.clock.nowMs()).go === "all" &&
      lane.row.recovery === undefined;
    if (!clear || lane.endpoint.ordered || (lane.behind && lane.needsMore)) this.wake(lane);
  }
}
