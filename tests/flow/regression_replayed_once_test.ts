import assert from "node:assert/strict";
import { StoreUnavailable } from "../../lib/errors.ts";
import { startReplays } from "../../lib/flow/operate/replays.ts";
import type { Relay } from "../../lib/flow/relay.ts";
import { readDelivery } from "../../lib/store/door.ts";
import { readJob } from "../../lib/store/jobs.ts";
import type { Write } from "../../lib/store/write.ts";
import { until } from "../helpers/wait.ts";
import { CountedRelays } from "./counted_relay.ts";

const ENDPOINT = "hooks";

const isReplay = ({ checks }: Write) =>
  ["delivery", "job"].every((room) => checks.some(({ key }) => key[0] === room));

/**
 * The first replay of a job is given up by who asked for it, and lands as that one tries again;
 * the second try is held until the delivery is delivered once more.
 */
function landsLate({ store, schedule }: Relay, deliveryId: string): void {
  const { committer } = store;
  const commit = committer.commit.bind(committer);
  let late: Write | undefined;
  let tries = 0;
  committer.commit = async (write: Write) => {
    if (!isReplay(write)) return await commit(write);
    tries++;
    if (tries === 1) {
      late = write;
      throw new StoreUnavailable("cannot commit: no answer");
    }
    if (tries === 2) {
      assert((await commit(late!)).ok);
      schedule.wake(ENDPOINT);
      await until(async () => {
        const found = await readDelivery(store, ENDPOINT, deliveryId);
        return found?.value.state === "delivered";
      }, { what: "the replay to be delivered" });
    }
    return await commit(write);
  };
}

Deno.test("a job's replay that landed unheard is not made again", async () => {
  await using relays = await CountedRelays.open([ENDPOINT]);
  const { relay, ask } = relays.make();
  const answer = await ask(`/hook/${ENDPOINT}`, { method: "POST", body: "x" });
  const { deliveryId } = await answer.json();
  const stored = async () => (await readDelivery(relay.store, ENDPOINT, deliveryId))!.value;
  await until(async () => (await stored()).state === "delivered", { what: "the delivery" });

  landsLate(relay, deliveryId);
  const job = await startReplays(relay, { state: "delivered" });
  assert("id" in job);
  await until(async () => (await readJob(relay.store, job.id))?.value.state === "done", {
    what: "the job's end",
  });

  await until(async () => (await stored()).state === "delivered", { what: "the last delivery" });
  assert.equal((await stored()).replays, 1);
  assert.equal((await readJob(relay.store, job.id))?.value.done, 1);
});
