import assert from "node:assert/strict";
import { attempted, claimed } from "../../lib/decide/transition.ts";
import { Held } from "../../lib/flow/held.ts";
import { Committer } from "../../lib/store/commit.ts";
import { change, readDelivery } from "../../lib/store/door.ts";
import type { Write } from "../../lib/store/write.ts";
import { TestStore } from "../store/open_store.ts";

/** Writes, but the first answer gets lost. */
class LosingCommitter extends Committer {
  #isFirst = true;

  override async commit(write: Write): ReturnType<Committer["commit"]> {
    const result = await super.commit(write);
    if (!this.#isFirst) return result;
    this.#isFirst = false;
    throw new Error("no answer");
  }
}

for (const renewals of [1, 2]) {
  Deno.test(`a result counts though the first of ${renewals} renewals had no answer`, async () => {
    using opened = await TestStore.open();
    const { store } = opened;
    const added = await opened.add("hooks", 1_000);
    const mine = await change(store, added, claimed(added.value, "me", 2_000, 62_000));
    assert(mine !== false);
    const committer = new LosingCommitter(store.kv, store.clock);
    const held = new Held({ ...store, committer }, mine);
    for (let n = 0; n < renewals; n++) await held.renew(90_000 + n);
    const measured = { atMs: 2_000, ms: 10, status: 200 };
    const settled = await held.settle(
      (one) => attempted(one, measured, { to: "delivered" }, 2_010),
      {},
    );
    assert.equal(settled, true);
    const { value } = (await readDelivery(store, "hooks", mine.value.id))!;
    assert.equal(value.state, "delivered");
    assert.deepEqual(await Array.fromAsync(store.kv.list({ prefix: ["due"] })), []);
  });
}

Deno.test("a result is refused where another process has taken over since", async () => {
  using opened = await TestStore.open();
  const { store } = opened;
  const added = await opened.add("hooks", 1_000);
  const mine = await change(store, added, claimed(added.value, "me", 2_000, 62_000));
  assert(mine !== false);
  const held = new Held(store, mine);
  assert(await change(store, mine, claimed(mine.value, "other", 63_000, 123_000)) !== false);
  const measured = { atMs: 2_000, ms: 10, status: 200 };
  const settled = await held.settle(
    (one) => attempted(one, measured, { to: "delivered" }, 2_010),
    {},
  );
  assert.equal(settled, false);
  assert.equal(held.lost, true);
});
