import assert from "node:assert/strict";
import { StandInGithub } from "../helpers/github.ts";
import { test } from "../helpers/group.ts";
import { allDeliveries } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import { firstPass, repaired, startAppRelay } from "./app_setup.ts";

const EVENTS = 1_000;
/** Spread over all pages of the history. */
const isFailed = (n: number) => n % 27 === 5 && n < 27 * 37;
const isPhantom = (n: number) => n % 200 === 111;

test("of 1,000 deliveries 37 failed and 5 were lost: all come, none twice", async () => {
  await using sink = startSink();
  await using github = new StandInGithub();
  await using relay = await startAppRelay(sink, github);
  await firstPass(relay);

  const guids = await inParallel(
    EVENTS,
    16,
    (n) => github.deliver(isFailed(n) ? "fail" : isPhantom(n) ? "phantom" : "send"),
  );
  assert.equal(github.rows.filter((row) => row.status_code === 502).length, 37);
  assert.equal((await allDeliveries(relay, "")).length, EVENTS - 42);

  await repaired(relay, (watch) => watch.repaired === 42, 90_000);
  await until(
    async () => (await allDeliveries(relay, "state=delivered")).length === EVENTS,
    { what: "all deliveries to be delivered" },
  );
  const atBackend = sink.requests.map((request) => request.header("x-github-delivery"));
  assert.equal(atBackend.length, EVENTS);
  assert.deepEqual(atBackend.toSorted(), guids.toSorted());
  assert.equal(github.redeliveries.length, 42);
});
