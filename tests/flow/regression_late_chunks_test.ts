import assert from "node:assert/strict";
import { StoreUnavailable } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { accept } from "../../lib/store/accept.ts";
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

Deno.test("chunks whose body was given up do not land any more", async () => {
  using opened = await TestStore.open();
  const { kv, clock } = opened.store;
  const committer = new LateCommitter(kv, clock);
  const staging = new Staging({ kv, committer, clock }, "01ARZ3NDEKTSV4RRFFQ69G5FAV");
  await assert.rejects(async () => await staging.write(new Uint8Array(8 * LIMITS.chunkBytes)));
  await staging.discard();
  for (const land of committer.late) await land();
  const later = clock.nowMs() + LIMITS.stagingMs + 1;
  assert.deepEqual(await Array.fromAsync(examine(kv, later)), []);
});

Deno.test("a store that stands still while a body is taken back holds up no answer", async () => {
  using opened = await TestStore.open();
  const { kv, clock, committer } = opened.store;
  const never = new Promise<never>(() => {});
  const still = {
    atomic: () => kv.atomic(),
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

/** Stages a body, of which some is swept by a clock that is an hour ahead. */
async function sweptMidway(opened: TestStore, bytesBefore: number): Promise<Staging> {
  const { store } = opened;
  const staging = new Staging(store, ID);
  await staging.write(new Uint8Array(bytesBefore));
  assert.equal(await sweepStaging(store, store.clock.nowMs() + 3_600_000, 10), 1);
  return staging;
}

const ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

Deno.test("a body of which chunks were swept while it arrived is taken no further", async () => {
  using opened = await TestStore.open();
  const staging = await sweptMidway(opened, 5 * LIMITS.chunkBytes);
  await assert.rejects(staging.finish(), StoreUnavailable);
});

Deno.test("a body that was swept before its delivery was published is not accepted", async () => {
  using opened = await TestStore.open();
  const { store } = opened;
  const staging = await sweptMidway(opened, 4 * LIMITS.chunkBytes);
  const { value } = await opened.add("hooks", 1_000);
  const { check, mutation } = staging.publish();
  const published = await accept(store, {
    delivery: { ...value, id: ID, chunks: staging.rows },
    ...{ rows: [mutation], rowBytes: 0, checks: [check] },
  });
  assert.equal(published, false);
});
