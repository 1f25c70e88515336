import assert from "node:assert/strict";
import { Committer } from "../../lib/store/commit.ts";
import type { Kv } from "../../lib/store/kv.ts";
import { bringUp } from "../../lib/store/migrate.ts";
import { TestClock } from "../helpers/clock.ts";
import { CountingKv } from "../helpers/counting_kv.ts";
import { DenoKvServer, denokvTest } from "../helpers/denokv.ts";
import { runToExit } from "../helpers/program.ts";
import { until } from "../helpers/wait.ts";
import { expected, fill, ROWS, rowsOf, steps } from "./migrating.ts";

const SCHEMA = ["schema"];
const PROGRAM = new URL("migrating.ts", import.meta.url).pathname;

/** Brings the store up as a process of its own would; returns the fault and what was logged. */
async function start(kv: Kv, migrations = steps()) {
  const logged: string[] = [];
  using clock = new TestClock();
  const fault = await bringUp(
    { kv, committer: new Committer(kv, clock), clock },
    (_level, event) => logged.push(event),
    migrations,
  );
  return { fault, logged };
}

async function assertDone(kv: Kv): Promise<void> {
  assert.deepEqual(await rowsOf(kv), expected());
  assert.equal((await kv.get(SCHEMA)).value, 3);
  assert.equal((await kv.get(["schema", "migration"])).value, null);
  for (const name of ["other", "rowdy"]) {
    assert.equal((await kv.get([name, 1])).value, "as it was");
  }
}

Deno.test("a new store is marked at the first start; later ones cost one read", async () => {
  using kv = await Deno.openKv(":memory:");
  const counting = new CountingKv(kv);
  assert.deepEqual(await start(counting.kv, []), { fault: undefined, logged: [] });
  assert.equal((await kv.get(SCHEMA)).value, 1);
  assert.equal(counting.take().commits, 1);
  await start(counting.kv, []);
  const { calls, commits } = counting.take();
  assert.deepEqual([calls, commits], [1, 0]);
});

Deno.test("an older store goes through all steps, and each row comes by once a step", async () => {
  using kv = await Deno.openKv(":memory:");
  await fill(kv);
  let seen = 0;
  const { logged } = await start(kv, steps(() => seen++));
  await assertDone(kv);
  assert.equal(seen, 2 * ROWS);
  assert.deepEqual(logged, ["migrating", "migrated", "migrating", "migrated"]);
});

Deno.test("a store that is between two formats goes through what it lacks only", async () => {
  using kv = await Deno.openKv(":memory:");
  await fill(kv);
  await start(kv, steps().slice(0, 1));
  assert.equal((await kv.get(SCHEMA)).value, 2);
  await start(kv);
  await assertDone(kv);
});

Deno.test("of a store with few or no rows every step comes to its end", async () => {
  for (const rows of [0, 1, 7, 8, 9, 16]) {
    using kv = await Deno.openKv(":memory:");
    for (let n = 0; n < rows; n++) await kv.set(["row", n], { n });
    await start(kv);
    assert.deepEqual(await rowsOf(kv), expected().slice(0, rows), `${rows} rows`);
    assert.equal((await kv.get(SCHEMA)).value, 3);
  }
});

for (const value of [4, 99, 0, -1, 1.5, "2", NaN]) {
  Deno.test(`a store with the ${typeof value} ${value} for its format is not touched`, async () => {
    using kv = await Deno.openKv(":memory:");
    await kv.set(SCHEMA, value);
    const counting = new CountingKv(kv);
    const { fault } = await start(counting.kv);
    assert.match(fault!, new RegExp(`its format is ${value}, this program knows up to 3: run`));
    assert.equal(counting.take().commits, 0);
  });
}

Deno.test("the program does not start on a newer store, and says what to do", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });
  try {
    const kvPath = `${folder}/relay.db`;
    const kv = await Deno.openKv(kvPath);
    await kv.set(SCHEMA, 7);
    kv.close();
    const { code, output } = await runToExit({ kvPath });
    assert.equal(code, 1);
    assert.match(
      output,
      /^cannot use the store: KV_PATH is .+: its format is 7, .* up to 1: run /m,
    );
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

/** Several handles, as several processes have them. */
async function startTogether(path: string, count: number): Promise<void> {
  const handles = await Promise.all(Array.from({ length: count }, () => Deno.openKv(path)));
  try {
    await fill(handles[0]);
    let seen = 0;
    await Promise.all(handles.map((kv) => start(kv, steps(() => seen++))));
    await assertDone(handles[0]);
    assert(seen < 2 * 2 * ROWS, `the others wait, but rows came by ${seen} times`);
  } finally {
    for (const kv of handles) kv.close();
  }
}

Deno.test("of several that start at once one migrates, and all start", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });
  try {
    await startTogether(`${folder}/relay.db`, 4);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

denokvTest("of several that start at once on a denokv server one migrates", async () => {
  await using server = await DenoKvServer.start();
  Deno.env.set("DENO_KV_ACCESS_TOKEN", server.env.DENO_KV_ACCESS_TOKEN);
  try {
    await startTogether(server.url, 3);
  } finally {
    Deno.env.delete("DENO_KV_ACCESS_TOKEN");
  }
});

/** Waits until somebody has committed a further batch. */
async function moved(kv: Kv): Promise<void> {
  const progress = async () => (await kv.get(["schema", "migration"])).versionstamp;
  const before = await progress();
  await until(async () => await progress() !== before, { what: "a batch", withinMs: 30_000 });
}

Deno.test("kill -9 in the middle, again and again, loses no step and does none twice", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });
  const path = `${folder}/relay.db`;
  const run = (pauseMs: number) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "-A", "--unstable-kv", PROGRAM, path, `${pauseMs}`],
      stdout: "null",
      stderr: "null",
    }).spawn();
  const kv = await Deno.openKv(path);
  try {
    await fill(kv);
    for (let round = 0; round < 4; round++) {
      const child = run(2);
      await moved(kv);
      child.kill("SIGKILL");
      await child.status;
    }
    // One of two dies: the other takes over, whichever of them was at it.
    const [first, second] = [run(2), run(2)];
    await moved(kv);
    first.kill("SIGKILL");
    await first.status;
    assert.equal((await second.status).code, 0);
    await assertDone(kv);
  } finally {
    kv.close();
    Deno.removeSync(folder, { recursive: true });
  }
});
