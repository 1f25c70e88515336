import assert from "node:assert/strict";
import { attempted, claimed, replayed } from "../../lib/decide/transition.ts";
import { Held } from "../../lib/flow/held.ts";
import { Committer } from "../../lib/store/commit.ts";
import { change, readDelivery } from "../../lib/store/door.ts";
import type { Write } from "../../lib/store/write.ts";
import { TestStore } from "../store/open_store.ts";

/** Loses the first answer; before it is missed, others go on with what was written. */
class LosingCommitter extends Committer {
  meanwhile: (() => Promise<unknown>) | undefined;

  override async commit(write: Write): ReturnType<Committer["commit"]> {
    const result = await super.commit(write);
    const { meanwhile } = this;
    if (meanwhile === undefined) return result;
    this.meanwhile = undefined;
    await meanwhile();
    throw new Error("no answer");
  }
}

Deno.test("a late renewal does not move the lease of who has taken a replay meanwhile", async () => {
  using opened = await TestStore.open();
  const { store } = opened;
  const added = await opened.add("hooks", 1_000);
  const mine = await change(store, added, claimed(added.value, "me", 2_000, 62_000));
  assert(mine !== false);
  const committer = new LosingCommitter(store.kv, store.clock);
  const held = new Held({ ...store, committer }, mine);
  committer.meanwhile = async () => {
    const delivered = await readDelivery(store, "hooks", mine.value.id);
    assert(delivered !== undefined);
    const again = await change(store, delivered, replayed(delivered.value, 3_000));
    assert(again !== false);
    await change(store, again, claimed(again.value, "other", 4_000, 64_000));
  };

  const measured = { atMs: 2_000, ms: 10, status: 200 };
  const settled = held.settle((one) => attempted(one, measured, { to: "delivered" }, 2_010), {});
  await Promise.all([settled, held.renew(90_000)]);

  assert.equal(await settled, true);
  const { value } = (await readDelivery(store, "hooks", mine.value.id))!;
  assert.equal(value.lease?.owner, "other");
  assert.equal(value.dueAtMs, 64_000);
});
