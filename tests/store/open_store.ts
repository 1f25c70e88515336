import { monotonicFactory } from "ulid";
import type { Delivery } from "../../lib/model.ts";
import type { Clock } from "../../lib/ports.ts";
import { accept } from "../../lib/store/accept.ts";
import { Committer } from "../../lib/store/commit.ts";
import type { Store, StoredDelivery } from "../../lib/store/kv.ts";

/** A clock whose timers end with the test. */
export class TestClock implements Clock, Disposable {
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  after(delayMs: number, fn: () => void): () => void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      fn();
    }, delayMs);
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
      clearTimeout(timer);
    };
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}

/** A real store that lives in memory. */
export class TestStore implements Disposable {
  readonly store: Store;
  readonly #clock = new TestClock();
  readonly #nextId = monotonicFactory();

  private constructor(kv: Deno.Kv) {
    this.store = { kv, clock: this.#clock, committer: new Committer(kv, this.#clock) };
  }

  static async open(): Promise<TestStore> {
    return new TestStore(await Deno.openKv(":memory:"));
  }

  /** Stores a pending delivery as if its request had come at `atMs`. */
  async add(
    endpoint: string,
    atMs: number,
    changes: Partial<Delivery> = {},
  ): Promise<StoredDelivery> {
    const id = this.#nextId(atMs);
    const delivery: Delivery = {
      ...{ id, endpoint, eventId: id, state: "pending", dueAtMs: atMs, acceptedAtMs: atMs },
      ...{ method: "POST", path: "", query: "", bytes: 0, chunks: 1, sha256: "" },
      ...{ attemptCount: 0, attempts: [], replays: 0 },
      round: { attemptsBefore: 0, refunds: 0 },
      ...changes,
    };
    const head = { endpoint, method: "POST", path: "", query: "", headers: "" };
    const row = { ...head, body: new Uint8Array() };
    const stored = await accept(this.store, {
      delivery,
      rows: [{ type: "set", key: ["payload", id, 0], value: row }],
      rowBytes: 200,
    });
    if (stored === false) throw new Error(`cannot store delivery ${id}`);
    return stored;
  }

  [Symbol.dispose](): void {
    this.#clock[Symbol.dispose]();
    this.store.kv.close();
  }
}
