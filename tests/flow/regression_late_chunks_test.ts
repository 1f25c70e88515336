import assert from "node:assert/strict";
import { LIMITS } from "../../lib/limits.ts";
import { examine } from "../../lib/store/doctor.ts";
import { Committer } from "../../lib/store/commit.ts";
import type { Kv } from "../../lib/store/kv.ts";
import { Staging, sweepStaging } from "../../lib/store/staging.ts";
import type { Write } from "../../lib/store/write.ts";
import { TestStore } from "../store/open_store.ts";

/** Holds back what follows the first write, and lets it land when it is told to. */
class LateCommitter extends Committer {
  readonly late: (() => Promise<unknown>)[] = [];
  #first = true;

  override commit(write: Write): ReturnType<Committer["commit"]> {
    if (this.#first) {
      this.#first = false;
      return super.commit(write);
    }
    this.late.push(() => super.commit(write));
    return Promise.reject(new Error("no answer"));
  }
}

Deno.test("chunks that land after their body was given up are swept", async () => {
  using opened = await TestStore.open();
  const { kv, clock } = opened.store;
  const committer = new LateCommitter(kv, clock);
  const staging = new Staging({ kv, committer, clock }, "01ARZ3NDEKTSV4RRFFQ69G5FAV");
  await assert.rejects(async () => await staging.write(new Uint8Array(8 * LIMITS.chunkBytes)));
  await staging.discard();
  for (const land of committer.late) await land();
  const later = clock.nowMs() + LIMITS.stagingMs + 1;
  assert.equal(await sweepStaging({ kv, committer, clock }, later, 10), 1);
  assert.deepEqual(await Array.fromAsync(examine(kv, later)), []);
});

Deno.test("a store that stands still while a body is taken back holds up no answer", async () => {
  using opened = await TestStore.open();
  const { kv, clock, committer } = opened.store;
  const never = new Promise<never>(() => {});
  const still = {
    list: async function* () {
      yield await never;
    },
  } as unknown as Kv;
  const staging = new Staging({ kv: still, committer, clock }, "01ARZ3NDEKTSV4RRFFQ69G5FAV");
  await staging.write(new Uint8Array(8 * LIMITS.chunkBytes));
  await staging.discard();
  assert.equal(
    await sweepStaging({ kv, committer, clock }, clock.nowMs() + LIMITS.stagingMs + 1, 10),
    1,
  );
});
