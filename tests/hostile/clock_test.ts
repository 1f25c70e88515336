import assert from "node:assert/strict";
import { Jar } from "../admin/jar.ts";
import { SILENCE } from "../helpers/answer.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { delivery, reached, statusOf } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { ADMIN_TOKEN, type Relay, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import { StandingLanes } from "./clock_lanes.ts";
import { clockTest, SteppingClock } from "./stepping_clock.ts";
import { StoredFile } from "./stored.ts";

const HOUR_S = 3_600;

/** The program ends as asked, and leaves a sound file. */
async function endsWell(relay: Relay): Promise<void> {
  assert.equal(await relay.kill("SIGTERM"), 0);
  using file = await StoredFile.open(relay.kvPath);
  assert.deepEqual(await file.complaints(), []);
}

for (const [way, byS] of [["forward", HOUR_S], ["back", -HOUR_S]] as const) {
  clockTest(`a step of an hour ${way} loses, doubles and holds no delivery`, async () => {
    using clock = new SteppingClock();
    await using lanes = new StandingLanes();
    await using relay = await startRelay({ endpoints: lanes.endpoints, env: clock.env });
    clock.follow(relay);
    const browser = new Jar(relay.origin);
    await browser.post("/admin/sign-in", { token: ADMIN_TOKEN });
    await lanes.fill(relay);
    clock.step(byS);
    await lanes.goOn(relay);
    assert.equal(await statusOf(relay.api("/status")), 200);
    assert.equal((await browser.fetch("/admin")).status, 200);
    await lanes.areDelivered(relay);
    lanes.isInOrder();
    // By a clock that went ahead an hour has passed.
    if (byS < 0) lanes.arePausesKept();
    await endsWell(relay);
  });
}

/** One delivery that its target never answers, one that waits for its next attempt. */
async function startTwo(clock: SteppingClock) {
  const silent = startSink((request) => request.header("holdfast-attempt") === "1" ? SILENCE : {});
  const failing = startSink((request) => ({
    status: request.header("holdfast-attempt") === "1" ? 500 : 200,
  }));
  const relay = await startRelay({
    endpoints: [
      endpoint("silent", silent),
      endpoint("failing", failing, { retry: { schedule: ["3s"] } }),
    ],
    env: { ...clock.env, LEASE: "2s" },
  });
  clock.follow(relay);
  const ids = [
    (await accept(relay, "silent")).deliveryId,
    (await accept(relay, "failing")).deliveryId,
  ];
  await until(() => silent.requests.length + failing.requests.length === 2, { what: "attempts" });
  return {
    relay,
    inFlight: ids[0],
    async areDelivered(): Promise<void> {
      for (const id of ids) await reached(relay, id, "delivered", 25_000);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await relay[Symbol.asyncDispose]();
      await silent[Symbol.asyncDispose]();
      await failing[Symbol.asyncDispose]();
    },
  };
}

clockTest(
  "leases are renewed by the clock that was set back, and end with the program",
  async () => {
    using clock = new SteppingClock();
    await using two = await startTwo(clock);
    const { relay, inFlight } = two;
    clock.step(-HOUR_S);
    const halfWayMs = Date.now() - HOUR_S * 500;
    await until(
      async () => Date.parse((await delivery(relay, inFlight)).dueAt ?? "") < halfWayMs,
      { what: "a lease by the new clock" },
    );
    await relay.restart();
    clock.follow(relay);
    await two.areDelivered();
    await endsWell(relay);
  },
);

clockTest("a clock that is set back while the program is away holds no delivery", async () => {
  using clock = new SteppingClock();
  await using two = await startTwo(clock);
  const { relay } = two;
  await relay.kill("SIGKILL");
  clock.step(-HOUR_S);
  await relay.restart();
  clock.follow(relay);
  await two.areDelivered();
  await endsWell(relay);
});
