import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { statusOf } from "../helpers/operator.ts";
import { runToExit, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { machineTest, setImmutable, SmallDisk } from "./disk.ts";
import { isAllKept, judgeRefusal, Promises } from "./promises.ts";

/** Runs the program once, so that its file is there, and ends it in good order. */
async function leaveFile(kvPath: string): Promise<void> {
  await using relay = await startRelay({ kvPath });
  await relay.kill("SIGTERM");
}

machineTest("mount", "a program on a read-only file system ends with a clear line", async () => {
  using disk = SmallDisk.mount();
  await leaveFile(disk.kvPath);
  disk.remount("ro");
  const { code, output } = await runToExit({ kvPath: disk.kvPath });
  assert.equal(code, 1);
  assert.match(output, /^cannot open the store: KV_PATH is \S+relay\.db: Read-only file system/m);
});

machineTest("chattr", "a program whose file is read-only ends with a clear line", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });
  const kvPath = `${folder}/relay.db`;
  try {
    await leaveFile(kvPath);
    setImmutable([kvPath], true);
    const { code, output } = await runToExit({ kvPath });
    assert.equal(code, 1);
    assert.match(
      output,
      /^cannot open the store: KV_PATH is \S+relay\.db: Operation not permitted/m,
    );
  } finally {
    setImmutable([kvPath], false);
    Deno.removeSync(folder, { recursive: true });
  }
});

machineTest(
  "chattr",
  "while its file takes no writes senders are told 503, and afterwards all goes on by itself",
  async () => {
    await using sink = startSink();
    // Without the queue: Deno ends a process that cannot write while it takes a message.
    const env = { SCHEDULER: "sweep" };
    await using relay = await startRelay({ endpoints: [endpoint("demo", sink)], env });
    const promises = new Promises();
    assert.equal((await promises.post(relay, 200)).http, 202);
    // The third file, of shared memory, stays: the kernel ends who cannot write to a mapped page.
    const files = [relay.kvPath, `${relay.kvPath}-wal`];
    setImmutable(files, true);
    try {
      for (const size of [200, 100_000, 700_000]) {
        judgeRefusal(await promises.post(relay, size));
      }
      assert.equal(await statusOf(relay.api("/deliveries")), 200);
    } finally {
      setImmutable(files, false);
    }
    for (const size of [200, 700_000]) assert.equal((await promises.post(relay, size)).http, 202);
    await isAllKept(relay, sink, promises);
  },
);
