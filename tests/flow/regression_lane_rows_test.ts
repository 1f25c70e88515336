import assert from "node:assert/strict";
import { endpointSchema, toEndpoint } from "../../lib/endpoint.ts";
import { StoreUnavailable } from "../../lib/errors.ts";
import { type Lane, Lanes } from "../../lib/flow/lanes.ts";
import { Committer } from "../../lib/store/commit.ts";
import type { Kv, Store } from "../../lib/store/kv.ts";
import { readLane } from "../../lib/store/lanes.ts";
import type { Write } from "../../lib/store/write.ts";
import { pause as sleep } from "../helpers/wait.ts";
import { TestStore } from "../store/open_store.ts";

const ID = "hooks";

/** One process's view of one lane. */
function laneIn(store: Store): { lanes: Lanes; lane: Lane } {
  const endpoint = toEndpoint(
    endpointSchema.parse({ id: ID, targetUrl: "https://app.example.com/" }),
  );
  const lanes = new Lanes(store, [endpoint], (url) => url, () => {}, async () => undefined);
  return { lanes, lane: lanes.get(ID)! };
}

const pauseLane = ({ lanes, lane }: ReturnType<typeof laneIn>) =>
  lanes.update(lane, (row) => ({ ...row, pausedAtMs: 5 }));
const recoverLane = ({ lanes, lane }: ReturnType<typeof laneIn>) =>
  lanes.update(lane, (row) => ({ ...row, recovery: { atMs: 1 } }));

/** Says when a commit has been answered, or answers none. */
class WatchedCommitter extends Committer {
  onAnswer: (() => Promise<void>) | undefined;
  isAway = false;

  override commit(write: Write): ReturnType<Committer["commit"]> {
    if (this.isAway) return Promise.reject(new StoreUnavailable("away"));
    const answer = super.commit(write);
    const { onAnswer } = this;
    this.onAnswer = undefined;
    if (onAnswer !== undefined) answer.then(onAnswer);
    return answer;
  }
}

Deno.test("a change at any step of another one's end is stored", async () => {
  for (let steps = 0; steps < 20; steps++) {
    using opened = await TestStore.open();
    const { store } = opened;
    const committer = new WatchedCommitter(store.kv, store.clock);
    const one = laneIn({ ...store, committer });
    await one.lanes.refresh(one.lane);
    const { promise: paused, resolve } = Promise.withResolvers<void>();
    committer.onAnswer = async () => {
      for (let n = 0; n < steps; n++) await undefined;
      resolve(pauseLane(one));
    };
    await recoverLane(one);
    await paused;
    const { row } = await readLane(store, ID);
    assert.equal(row?.pausedAtMs, 5, `lost ${steps} steps after the answer`);
  }
});

Deno.test("a change whose caller was told of a failure does not come back", async () => {
  using opened = await TestStore.open();
  const { store } = opened;
  const committer = new WatchedCommitter(store.kv, store.clock);
  const one = laneIn({ ...store, committer });
  const other = laneIn(store);
  await one.lanes.refresh(one.lane);
  committer.isAway = true;
  await assert.rejects(pauseLane(one), StoreUnavailable);
  committer.isAway = false;
  await one.lanes.reread(one.lane);
  await other.lanes.update(other.lane, (row) => ({ ...row, knocker: { owner: "x", untilMs: 1 } }));
  await recoverLane(one);
  const { row } = await readLane(store, ID);
  assert.equal(row?.pausedAtMs, undefined);
  assert.equal(row?.recovery?.atMs, 1);
});

Deno.test("a read that was overtaken by a change takes nothing of it back", async () => {
  using opened = await TestStore.open();
  const { store } = opened;
  let held = Promise.resolve();
  const get: Kv["get"] = async (key) => {
    const entry = await store.kv.get<never>(key);
    await held;
    return entry;
  };
  const one = laneIn({ ...store, kv: { get } as Kv });
  await recoverLane(one);
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  one.lane.readAtMs = -Infinity;
  const reading = one.lanes.refresh(one.lane);
  // The answer is on its way.
  await sleep(20);
  await pauseLane(one);
  resolve();
  await reading;
  assert.equal(one.lane.row.pausedAtMs, 5);
});
