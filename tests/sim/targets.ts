import { createHash } from "node:crypto";
import type { Answer, Outgoing, Transport } from "../../lib/flow/transport.ts";
import type { FailureCode } from "../../lib/model.ts";
import type { Dice } from "./dice.ts";
import type { Actor, World } from "./world.ts";

/** How a target behaves. */
export const BEHAVIOURS = [
  "ok",
  "slow",
  "hangs",
  "moody",
  "error",
  "unavailable",
  "busy",
  "refused",
  "resets",
  "loses_answers",
  "rejects",
] as const;
export type Behaviour = typeof BEHAVIOURS[number];

/** An attempt's way out and its result back in, as the process that makes it sees them. */
export interface Attempted {
  deliveryId: string;
  attempt: number;
  by: Actor;
}

/** What a process heard of an attempt. */
export type Heard = Attempted & ({ status: number; retryAfter?: string } | { code: FailureCode });

export interface TargetsWatcher {
  /** An attempt starts; nothing has left the process yet. */
  onSend: (attempted: Attempted) => void;
  onHeard: (heard: Heard) => void;
}

/** One request as a target saw it. */
export interface Arrival extends Attempted {
  origin: string;
  sha256: string;
  atMs: number;
  status: number | "none";
  /** Whether the process heard the answer. */
  heard: boolean;
}

/** What a target does with one request; times in milliseconds. */
interface Plan {
  arrivesInMs?: number;
  answersInMs: number;
  status?: number;
  retryAfter?: string;
  /** What the process hears instead of an answer. */
  code?: FailureCode;
}

/** What targets ask for at most; `busy` ones for less. */
export const LONGEST_RETRY_AFTER_MS = 20_000;

/** All targets, by origin, and what reached them. */
export class Targets {
  readonly arrivals: Arrival[] = [];
  readonly #behaviours = new Map<string, Behaviour>();

  constructor(
    readonly world: World,
    readonly dice: Dice,
    readonly watcher: TargetsWatcher,
  ) {}

  behave(origin: string, behaviour: Behaviour): void {
    this.#behaviours.set(origin, behaviour);
  }

  allWell(): void {
    this.#behaviours.clear();
  }

  listens(origin: string): boolean {
    return this.#behaviours.get(origin) !== "refused";
  }

  plan(origin: string): Plan {
    const { dice } = this;
    const fast = { arrivesInMs: dice.int(1, 5), answersInMs: dice.int(1, 40) };
    switch (this.#behaviours.get(origin) ?? "ok") {
      case "ok":
        return { ...fast, status: 200 };
      case "slow":
        return { ...fast, answersInMs: dice.int(1_000, 12_000), status: 200 };
      case "hangs":
        return { ...fast, answersInMs: Infinity };
      case "moody":
        return { ...fast, status: dice.pick([200, 200, 500, 503, 404, 302, 429]) };
      case "error":
        return { ...fast, status: 500 };
      case "unavailable":
        return {
          ...fast,
          status: 503,
          retryAfter: dice.chance(0.5) ? `${LONGEST_RETRY_AFTER_MS / 1_000}` : undefined,
        };
      case "busy":
        return { ...fast, status: 429, retryAfter: dice.chance(0.7) ? "15" : undefined };
      case "refused":
        return { answersInMs: 1, code: "refused" };
      case "resets":
        return { answersInMs: dice.int(1, 20), code: "reset" };
      case "loses_answers":
        return { ...fast, status: 200, code: "reset" };
      case "rejects":
        return { ...fast, status: 422 };
    }
  }
}

/** The way to the targets for one process. */
export function transportOf(targets: Targets, actor: Actor): Transport {
  const { world, dice } = targets;
  const ending = new AbortController();

  async function send(out: Outgoing): Promise<Answer> {
    const startedAtMs = world.nowMs;
    const deliveryId = headerOf(out, "holdfast-delivery-id");
    const attempt = Number(headerOf(out, "holdfast-attempt"));
    const attempted = { deliveryId, attempt, by: actor };
    targets.watcher.onSend(attempted);
    const body = await bytesOf(out);
    return new Promise((resolve) => {
      const { arrivesInMs, answersInMs, status, retryAfter, code } = targets.plan(out.origin);
      let arrival: Arrival | undefined;
      let over = false;
      const end = (answer: { status: number } | { code: FailureCode }) => {
        if (over) return;
        over = true;
        const ms = world.nowMs - startedAtMs;
        targets.watcher.onHeard({ ...attempted, retryAfter, ...answer });
        if ("code" in answer) return resolve({ kind: "failure", code: answer.code, ms });
        if (arrival !== undefined) arrival.heard = true;
        const ended = new Promise<void>((done) => world.after(dice.int(0, 20), done, actor));
        resolve({
          kind: "answer",
          status: answer.status,
          retryAfter,
          location: undefined,
          ms,
          ended,
        });
      };
      const onTheWire = dice.chance(0.5);
      if (arrivesInMs !== undefined) {
        world.after(arrivesInMs, () => {
          if (over || (!actor.alive && !onTheWire)) return;
          arrival = {
            ...attempted,
            origin: out.origin,
            sha256: sha256Of(body),
            atMs: world.nowMs,
            status: status ?? "none",
            heard: false,
          };
          targets.arrivals.push(arrival);
          world.tell(
            `${out.origin} gets ${deliveryId} attempt ${arrival.attempt} from ${actor.name}: ${
              status ?? "silence"
            }${code ? `, ${code}` : ""}`,
          );
        });
      }
      if (answersInMs < Infinity) {
        const answer = code === undefined ? { status: status! } : { code };
        world.after((arrivesInMs ?? 0) + answersInMs, () => end(answer), actor);
      }
      world.after(out.timeoutMs, () => end({ code: "timeout" }), actor);
      const abort = () => end({ code: "aborted" });
      out.signal?.addEventListener("abort", abort);
      ending.signal.addEventListener("abort", abort);
    });
  }

  return {
    send,
    knock: (origin) =>
      new Promise((resolve) => world.after(2, () => resolve(targets.listens(origin)), actor)),
    async close() {
      ending.abort();
    },
  };
}

const headerOf = ({ headers }: Outgoing, wanted: string) =>
  headers.find(([name]) => name === wanted)?.[1] ?? "";

async function bytesOf({ body }: Outgoing): Promise<Uint8Array[]> {
  if (body instanceof Uint8Array) return [body];
  const pieces: Uint8Array[] = [];
  for await (const piece of body()) pieces.push(piece);
  return pieces;
}

function sha256Of(pieces: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}
