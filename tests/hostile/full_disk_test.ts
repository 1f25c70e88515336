import assert from "node:assert/strict";
import { LIMITS } from "../../lib/limits.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { reached, read, statusOf } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { type Relay, runToExit, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import type { StatusView } from "../routes/contract.ts";
import { machineTest, SmallDisk } from "./disk.ts";
import { isAllKept, judgeRefusal, Promises } from "./promises.ts";

/** Small, large enough to be stored in several rows, and large enough to be staged. */
const SIZES = [200, 100_000, 700_000];

const RETRIES = { retry: { schedule: Array(100).fill("200ms") } };

/** Senders go on until the disk is so full that all of them are refused. */
async function untilAllRefused(relay: Relay, promises: Promises): Promise<void> {
  await until(async () => {
    const answers = await inParallel(9, 9, (n) => promises.post(relay, SIZES[n % SIZES.length]));
    return answers.every(({ http }) => http === 503);
  }, { what: "every sender to be refused", withinMs: 60_000 });
}

/** The room is looked for now and then only. */
async function untilAllTaken(relay: Relay, promises: Promises): Promise<void> {
  await until(async () => {
    const answers = await Promise.all(SIZES.map((size) => promises.post(relay, size)));
    return answers.every(({ http }) => http === 202);
  }, { what: "every sender to be taken" });
}

machineTest(
  "mount",
  "on a full disk senders are told 503, and with room again all goes on by itself",
  async () => {
    using disk = SmallDisk.mount();
    await using sink = startSink({ status: 503 });
    await using relay = await startRelay({
      endpoints: [endpoint("demo", sink, RETRIES)],
      kvPath: disk.kvPath,
      // Deno ends a process that cannot write while it takes a message of the queue.
      env: { SCHEDULER: "sweep" },
    });
    const promises = new Promises();
    for (const size of SIZES) assert.equal((await promises.post(relay, size)).http, 202);
    disk.fill();
    await untilAllRefused(relay, promises);
    for (const size of SIZES) judgeRefusal(await promises.post(relay, size));
    // What was accepted meets a target that takes it, while nothing can be written down.
    sink.script = {};
    const { conditions } = await read<StatusView>(relay, "/status");
    assert(conditions.some(({ type }) => type === "store_errors"));
    assert.equal(await statusOf(relay.api("/deliveries")), 200);
    disk.makeRoom();
    await untilAllTaken(relay, promises);
    await isAllKept(relay, sink, promises);
  },
);

machineTest(
  "mount",
  "the last of the disk is kept for what is stored: that is delivered while senders are told 503",
  async () => {
    using disk = SmallDisk.mount();
    await using sink = startSink({ status: 503 });
    await using relay = await startRelay({
      endpoints: [endpoint("demo", sink, RETRIES)],
      kvPath: disk.kvPath,
    });
    const promises = new Promises();
    for (const size of SIZES) assert.equal((await promises.post(relay, size)).http, 202);
    disk.fill(LIMITS.diskReserveBytes / 2);
    await untilAllRefused(relay, promises);
    for (const size of SIZES) judgeRefusal(await promises.post(relay, size));
    sink.script = {};
    for (const id of promises.kept.keys()) await reached(relay, id, "delivered");
    assert.match(relay.output, /"store_error".*too little room/);
    disk.makeRoom();
    await untilAllTaken(relay, promises);
    await isAllKept(relay, sink, promises);
  },
);

machineTest("mount", "a program on a full disk ends with a clear line", async () => {
  using disk = SmallDisk.mount();
  {
    await using relay = await startRelay({ kvPath: disk.kvPath });
    await relay.kill("SIGTERM");
  }
  disk.fill();
  const { code, output } = await runToExit({ kvPath: disk.kvPath });
  assert.equal(code, 1);
  assert.match(output, /^cannot open the store: KV_PATH is \S+relay\.db: .*; its disk is full$/m);
});
