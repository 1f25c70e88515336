import { breakerAfter } from "../decide/breaker.ts";
import { isFree } from "../decide/lane.ts";
import type { Clock } from "../ports.ts";
import type { Lane, Lanes } from "./lanes.ts";
import type { Transport } from "./transport.ts";

/** So often an open lane's target is tried with a bare connect. */
const KNOCK_MS = 5_000;
const KNOCK_LEASE_MS = 3 * KNOCK_MS;

interface Parts {
  lanes: Lanes;
  transport: Transport;
  clock: Clock;
  owner: string;
  wake: (lane: Lane) => void;
}

/**
 * Ends a short outage early: while a breaker is open because nobody listened, one process
 * connects every five seconds, without a request, and brings the probe forward.
 */
export class Knocker {
  readonly #parts: Parts;
  readonly #timers = new Map<Lane, () => void>();
  #stopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Watches a lane for as long as its breaker is open for want of a connection. */
  watch(lane: Lane): void {
    if (this.#stopped || this.#timers.has(lane) || !isUnreachable(lane)) return;
    const again = () => {
      this.#timers.delete(lane);
      this.#knock(lane).catch(() => {}).finally(() => this.watch(lane));
    };
    this.#timers.set(lane, this.#parts.clock.after(KNOCK_MS, again));
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  async #knock(lane: Lane): Promise<void> {
    const { lanes, transport, clock, wake } = this.#parts;
    await lanes.refresh(lane);
    if (!isUnreachable(lane)) return wake(lane);
    if (!await this.#isOurs(lane)) return;
    const listens = await transport.knock(new URL(lane.endpoint.targetUrl).origin, KNOCK_MS);
    if (!listens) return;
    await lanes.update(lane, (row) => ({
      ...row,
      breaker: breakerAfter(
        row.breaker,
        { type: "listening", atMs: clock.nowMs() },
        lane.endpoint.breaker,
      ),
    }));
    wake(lane);
  }

  async #isOurs(lane: Lane): Promise<boolean> {
    const { lanes, clock, owner } = this.#parts;
    const nowMs = clock.nowMs();
    const { knocker } = lane.row;
    const lasts = knocker?.owner === owner && knocker.untilMs > nowMs + KNOCK_MS;
    if (lasts) return true;
    const untilMs = nowMs + KNOCK_LEASE_MS;
    await lanes.update(
      lane,
      (row) => isFree(row.knocker, owner, nowMs) ? { ...row, knocker: { owner, untilMs } } : row,
    );
    return lane.row.knocker?.owner === owner;
  }
}

function isUnreachable(lane: Lane): boolean {
  const { breaker } = lane.row;
  return lane.endpoint.breaker !== false && breaker.phase === "open" &&
    breaker.cause === "connection";
}
