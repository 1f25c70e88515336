import type { Dice } from "../dice.ts";
import type { Actor, World } from "../world.ts";
import { type Applied, type Operation, Rows } from "./rows.ts";
import { Weather } from "./weather.ts";

/** Told of every commit in the moment it takes effect. */
export type OnCommit = (applied: readonly Applied[], by: Actor) => void;

interface Listener {
  actor: Actor;
  onMessage: (message: unknown) => void;
}

export interface Message {
  payload: unknown;
  delayMs: number;
}

/** Expired rows go with the next sweep, and that may be minutes late. */
const SWEEP_MS = { least: 30_000, most: 300_000 };

/** One simulated database that any number of processes open. */
export class Database {
  readonly rows = new Rows();
  readonly weather: Weather;
  /** When each process had trouble with the store, in world time. */
  readonly #troubles = new Map<Actor, number[]>();
  readonly #listeners: Listener[] = [];
  readonly #watchers: OnCommit[] = [];

  constructor(readonly world: World, readonly dice: Dice) {
    this.weather = new Weather(dice);
    this.#sweepLater();
  }

  watch(onCommit: OnCommit): void {
    this.#watchers.push(onCommit);
  }

  /** Notes that a process noticed something of the weather. */
  note(by: Actor): void {
    const times = this.#troubles.get(by);
    if (times === undefined) this.#troubles.set(by, [this.world.nowMs]);
    else times.push(this.world.nowMs);
  }

  /** Whether a process had trouble with the store between two times. */
  hadTrouble(by: Actor, fromMs: number, toMs: number): boolean {
    return this.#troubles.get(by)?.some((atMs) => atMs >= fromMs && atMs <= toMs) ?? false;
  }

  commit(
    operation: Operation,
    messages: readonly Message[],
    by: Actor,
  ): Deno.KvCommitResult | Deno.KvCommitError {
    const done = this.rows.commit(operation, this.world.nowMs);
    if (done === undefined) return { ok: false };
    for (const message of messages) this.#send(message);
    for (const watcher of this.#watchers) watcher(done.applied, by);
    return { ok: true, versionstamp: done.versionstamp };
  }

  listen(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Messages come late, twice or never. */
  #send({ payload, delayMs }: Message): void {
    const { dice, world, weather } = this;
    const times = weather.mode === "perfect" ? 1 : dice.pick([0, 1, 1, 1, 1, 2]);
    for (let n = 0; n < times; n++) {
      const lateMs = dice.chance(0.1) ? dice.int(1_000, 60_000) : dice.int(1, 50);
      world.after(delayMs + lateMs, () => {
        const alive = this.#listeners.filter(({ actor }) => actor.alive);
        if (alive.length > 0) dice.pick(alive).onMessage(payload);
      });
    }
  }

  #sweepLater(): void {
    this.world.after(this.dice.int(SWEEP_MS.least, SWEEP_MS.most), () => {
      this.rows.expire(this.world.nowMs);
      this.#sweepLater();
    });
  }
}
