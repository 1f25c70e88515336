import { monotonicFactory } from "ulid";
import type { Endpoint } from "../../lib/endpoint.ts";
import { withReadLimit } from "../../lib/store/read_limit.ts";
import { createRelay, type Relay } from "../../lib/flow/relay.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Clock } from "../../lib/ports.ts";
import { Committer } from "../../lib/store/commit.ts";
import type { Kv } from "../../lib/store/kv.ts";
import { senderFor } from "../../lib/verify/sender.ts";
import type { Dice } from "./dice.ts";
import type { Database } from "./kv/database.ts";
import { openKv } from "./kv/handle.ts";
import { RELAY } from "./settings.ts";
import { type Targets, transportOf } from "./targets.ts";
import type { Actor, World } from "./world.ts";

/** What all processes of a simulation share. */
export interface Surroundings {
  world: World;
  database: Database;
  targets: Targets;
  dice: Dice;
  leaseMs: number;
  /** Puts something between the relay and its store, to see whether it is noticed. */
  tamper: (kv: Kv) => Kv;
}

/** Having stopped its relay the program still closes its sockets: so long at most. */
const CLOSING_MS = 50;
/** A stop in the middle of something waits so long for it. */
export const STOP_WAIT_MS = 1_000;

/** One run of the program, from its start to its end. A dead one does nothing any more. */
export class Process implements Actor {
  alive = true;
  stopping = false;
  /** How far its clock is ahead of the world's. */
  clockAheadMs: number;
  readonly relay: Relay;
  #stepsLeft = Infinity;
  #stepsToStop = Infinity;
  readonly #world: World;
  readonly #dice: Dice;

  constructor(
    readonly name: string,
    endpoints: ReadonlyMap<string, Endpoint>,
    { world, database, targets, dice, leaseMs, tamper }: Surroundings,
    clockAheadMs: number,
    private readonly onEnd: (how: "killed" | "stopped") => void,
  ) {
    this.#world = world;
    this.#dice = dice;
    this.clockAheadMs = clockAheadMs;
    const clock = this.#clock();
    const kv = withReadLimit(tamper(openKv(database, this, () => this.#step())), clock);
    const senders = new Map(
      Array.from(endpoints.values(), (endpoint) => [endpoint.id, senderFor(endpoint)]),
    );
    this.relay = createRelay({
      config: {
        endpoints,
        leaseMs,
        scheduler: "auto",
        publicUrl: undefined,
        relay: RELAY,
        github: { apiUrl: "http://github.test", graceMs: 0, intervalMs: 300_000 },
      },
      store: { kv, committer: new Committer(kv, clock), clock },
      transport: transportOf(targets, this),
      senderOf: (endpoint) => senders.get(endpoint)!,
      fingerprintOf: (targetUrl) => targetUrl,
      clock,
      afterWrites: (fn) => void world.after(0, fn, this),
      random: dice.next,
      nextId: monotonicFactory(dice.next),
      owner: name,
      observe: (event) => {
        if (event.type === "store_error") {
          world.tell(`${name} says: ${event.doing}: ${event.message}`);
        }
        if (event.type === "lane") {
          world.tell(`${name} sees lane ${event.endpoint} ${event.change}`);
        }
      },
      log: () => {},
    });
  }

  start(): void {
    this.relay.start();
  }

  /** Ends it at once, or in the middle of what it does after `steps` more store events. */
  kill(steps = 0): void {
    if (steps > 0) this.#stepsLeft = steps;
    else this.#end("killed");
  }

  /** Takes back a `kill` that has not come to pass. */
  spare(): void {
    this.#stepsLeft = Infinity;
  }

  /**
   * Asks it to end: at once, or in the middle of what it does after `steps` more store events.
   */
  stop(steps = 0): void {
    if (steps === 0) return this.#stop();
    this.#stepsToStop = steps;
    this.#world.after(STOP_WAIT_MS, () => this.#stop(), this);
  }

  /** Ends it as SIGTERM does: within the grace, then at once. */
  #stop(): void {
    if (this.stopping) return;
    this.stopping = true;
    this.#world.tell(`${this.name} is asked to stop`);
    this.#world.after(LIMITS.stopMs - 100, () => this.#end("stopped"), this);
    this.relay.refuse();
    this.relay.stop().then(() => {
      this.#world.after(this.#dice.int(0, CLOSING_MS), () => this.#end("stopped"), this);
    });
  }

  #end(how: "killed" | "stopped"): void {
    if (!this.alive) return;
    this.alive = false;
    this.#world.tell(`${this.name} is ${how}`);
    this.onEnd(how);
  }

  #step(): void {
    if (--this.#stepsLeft === 0) this.#end("killed");
    if (--this.#stepsToStop === 0) this.#stop();
  }

  #clock(): Clock {
    const startedAtMs = this.#world.nowMs;
    return {
      nowMs: () => this.#world.nowMs + this.clockAheadMs,
      monotonicMs: () => this.#world.nowMs - startedAtMs,
      after: (delayMs, fn) => this.#world.after(delayMs, fn, this),
    };
  }
}
