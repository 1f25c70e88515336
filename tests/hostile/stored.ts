import { createHash } from "node:crypto";
import type { Delivery } from "../../lib/model.ts";
import { Committer } from "../../lib/store/commit.ts";
import { type Complaint, examine } from "../../lib/store/doctor.ts";
import { keys } from "../../lib/store/keys.ts";
import type { Store } from "../../lib/store/kv.ts";
import { readBody, readPayloadHead } from "../../lib/store/payload.ts";
import { TestClock } from "../helpers/clock.ts";

/** A stored delivery, and the hash of the body bytes that lie there. */
export type Record = Delivery & { storedSha256: string | undefined };

/** The KV file of a relay that has ended. */
export class StoredFile implements Disposable {
  readonly #store: Store;
  readonly #clock = new TestClock();

  private constructor(kv: Deno.Kv) {
    this.#store = { kv, clock: this.#clock, committer: new Committer(kv, this.#clock) };
  }

  static async open(path: string): Promise<StoredFile> {
    return new StoredFile(await Deno.openKv(path));
  }

  /** All deliveries by id. */
  async records(): Promise<Map<string, Record>> {
    const found = new Map<string, Record>();
    const { kv } = this.#store;
    for await (const { value } of kv.list<Delivery>({ prefix: keys.allDeliveries() })) {
      found.set(value.id, { ...value, storedSha256: await this.#bodyHash(value) });
    }
    return found;
  }

  /** What the doctor finds. */
  complaints(): Promise<Complaint[]> {
    return Array.fromAsync(examine(this.#store.kv, Date.now()));
  }

  /** Marks of bodies that were begun and not published. */
  async stagings(): Promise<Deno.KvKey[]> {
    const rows = await Array.fromAsync(this.#store.kv.list({ prefix: keys.stagings() }));
    return rows.map(({ key }) => key);
  }

  async #bodyHash(delivery: Delivery): Promise<string | undefined> {
    const head = await readPayloadHead(this.#store, delivery.id);
    if (head === undefined) return undefined;
    const hash = createHash("sha256");
    for await (const piece of readBody(this.#store, delivery, head)) hash.update(piece);
    return hash.digest("hex");
  }

  [Symbol.dispose](): void {
    this.#clock[Symbol.dispose]();
    this.#store.kv.close();
  }
}
