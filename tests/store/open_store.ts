import { monotonicFactory } from "ulid";
import type { Delivery } from "../../lib/model.ts";
import { accept } from "../../lib/store/accept.ts";
import { Committer } from "../../lib/store/commit.ts";
import type { Store, StoredDelivery } from "../../lib/store/kv.ts";
import { TestClock } from "../helpers/clock.ts";

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
