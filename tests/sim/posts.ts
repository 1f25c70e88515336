import { createHash } from "node:crypto";
import { ingest, type IngestResult } from "../../lib/flow/ingest.ts";
import type { Dice } from "./dice.ts";
import type { Process } from "./process.ts";
import { laneSettings } from "./settings.ts";
import type { World } from "./world.ts";

/** One event of a sender, however often it is posted. */
export interface SentEvent {
  id: string;
  endpoint: string;
  bytes: number;
  sha256: string;
  /** Ids of the deliveries that were answered with success. */
  answered: Set<string>;
}

/** What a process answered, and how long the sender waited for it. */
export interface Answered {
  event: SentEvent;
  result: IngestResult;
  by: Process;
  /** World time. */
  postedAtMs: number;
  tookMs: number;
}

/** A sender that gets no success posts again, so often. */
const REPOSTS = 4;

/** The senders: post events, and post again what was not taken. */
export class Posts {
  readonly events = new Map<string, SentEvent>();
  /** Posts under way or waiting to be tried again. */
  open = 0;
  readonly #unheard = new Map<Process, Set<() => void>>();

  constructor(
    readonly world: World,
    readonly dice: Dice,
    readonly processes: () => Process[],
    readonly onAnswer: (answer: Answered) => void,
    readonly onCrash: (error: Error) => void,
  ) {}

  post(endpoint: string, number: number, bytes: number, to: Process | undefined): void {
    const id = `e${number}`;
    let event = this.events.get(`${endpoint}/${id}`);
    if (event === undefined) {
      const sha256 = createHash("sha256").update(bodyOf(id, bytes)).digest("hex");
      event = { id, endpoint, bytes, sha256, answered: new Set() };
      this.events.set(`${endpoint}/${id}`, event);
    }
    this.open++;
    this.#try(event, to, REPOSTS);
  }

  /** Whoever waits for an answer of a process that ended gets none. */
  ended(process: Process): void {
    for (const hangUp of this.#unheard.get(process) ?? []) hangUp();
    this.#unheard.delete(process);
  }

  #try(event: SentEvent, to: Process | undefined, left: number): void {
    if (to === undefined || !to.alive) return this.#again(event, left);
    const unheard = this.#unheard.get(to) ?? new Set();
    this.#unheard.set(to, unheard);
    const hangUp = () => this.#again(event, left);
    unheard.add(hangUp);
    const postedAtMs = this.world.nowMs;
    ingest(partsFor(to, event.endpoint), event.endpoint, arrivalOf(event)).then((result) => {
      if (!to.alive || !unheard.delete(hangUp)) return;
      const tookMs = this.world.nowMs - postedAtMs;
      this.onAnswer({ event, result, by: to, postedAtMs, tookMs });
      if (result.kind === "stored") this.open--;
      else this.#again(event, left);
    }, this.onCrash);
  }

  #again(event: SentEvent, left: number): void {
    if (left === 0) this.open--;
    else {
      this.world.after(this.dice.int(200, 8_000), () => {
        const alive = this.processes();
        this.#try(event, alive.length === 0 ? undefined : this.dice.pick(alive), left - 1);
      });
    }
  }
}

/** As the routes ask for it: relay mode's endpoints are made with the request. */
function partsFor({ relay }: Process, endpoint: string) {
  if (relay.endpoints.has(endpoint)) return relay;
  return { ...relay, endpoints: new Map([[endpoint, laneSettings(endpoint)]]) };
}

function bodyOf(id: string, bytes: number): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${id}:`.padEnd(bytes, "x"));
}

function arrivalOf({ id, bytes, endpoint }: SentEvent) {
  const body = bodyOf(id, bytes);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < body.length; at += 65_536) {
        controller.enqueue(body.slice(at, at + 65_536));
      }
      controller.close();
    },
  });
  return {
    head: {
      method: "POST",
      path: "",
      query: "",
      url: `http://relay.test/hook/${endpoint}`,
      headers: [["content-type", "text/plain"], ["x-request-id", id]] as const,
    },
    body: { declaredBytes: body.length, stream, whole: () => Promise.resolve(body) },
    peer: { peerAddress: "192.0.2.1", host: "relay.test", proto: "http" as const },
  };
}
