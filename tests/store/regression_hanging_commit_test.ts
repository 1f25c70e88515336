import assert from "node:assert/strict";
import { StoreUnavailable } from "../../lib/errors.ts";
import { dropActive, dropTarget } from "../../lib/store/active.ts";
import { Committer } from "../../lib/store/commit.ts";
import { dropDue } from "../../lib/store/due.ts";
import type { Kv, Store } from "../../lib/store/kv.ts";
import { readsThrough } from "../../lib/store/reads.ts";
import { TestStore } from "./open_store.ts";

/** A store that reads, and answers no commit. */
function hanging(kv: Kv): Kv {
  return {
    ...readsThrough(kv, (ask) => ask()),
    atomic() {
      const operation = kv.atomic();
      operation.commit = () => new Promise(() => {});
      return operation;
    },
  };
}

const LANE = `relay-${"0".repeat(24)}`;

/** What tidies up on the way to a delivery or to a lane, and must not hold that up for ever. */
const DROPS: Record<string, (store: Store) => Promise<unknown>> = {
  dropActive: (store) => dropActive(store, LANE),
  dropTarget: (store) => dropTarget(store, LANE),
  dropDue: (store) => dropDue(store, { endpoint: LANE, dueAtMs: 1, id: "01" }, undefined),
};

for (const [name, drop] of Object.entries(DROPS)) {
  Deno.test(`${name}() of a store that answers no commit rejects in time`, async () => {
    using opened = await TestStore.open();
    const { clock } = opened.store;
    const kv = hanging(opened.store.kv);
    await assert.rejects(
      drop({ kv, clock, committer: new Committer(kv, clock, 50) }),
      StoreUnavailable,
    );
  });
}
