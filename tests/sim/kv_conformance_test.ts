import assert from "node:assert/strict";
import type { Kv } from "../../lib/store/kv.ts";
import { DenoKvServer, denokvTest } from "../helpers/denokv.ts";
import { Dice } from "./dice.ts";
import { Database } from "./kv/database.ts";
import { openKv } from "./kv/handle.ts";
import { World } from "./world.ts";

/** What a store is asked, and what it must answer whichever store it is. */
type Case = (kv: Kv) => Promise<unknown>;

const KEYS: Deno.KvKey[] = [
  ["a"],
  ["a", ""],
  ["a", "b"],
  ["a", "b", 1],
  ["a", "b", -1],
  ["a", "b", 2 ** 40],
  ["a", "b", 1.5],
  ["a", "b", Infinity],
  ["a", "b\u0000", 1],
  ["a", "bb"],
  ["a", "é"],
  ["a", "🤨"],
  ["a", "\uffff"],
  ["b", 1],
];

async function filled(kv: Kv): Promise<void> {
  for (const [index, key] of KEYS.entries()) await kv.set(key, index);
}

async function listed(kv: Kv, selector: Deno.KvListSelector, options?: Deno.KvListOptions) {
  const found: Deno.KvKey[] = [];
  for await (const { key } of kv.list(selector, options)) found.push(key);
  return found;
}

const failure = (asked: Promise<unknown>) =>
  asked.then(() => "no failure", (error) => `${error.name}: ${error.message}`);

function checks(kv: Kv, n: number): Promise<string> {
  const operation = kv.atomic();
  for (let at = 0; at < n; at++) operation.check({ key: ["n", at], versionstamp: null });
  return failure(operation.commit());
}

const CASES: Record<string, Case> = {
  "keys are in order": async (kv) => {
    await filled(kv);
    return await listed(kv, { prefix: ["a"] });
  },
  "a range begins with its start and ends before its end": async (kv) => {
    await filled(kv);
    return [
      await listed(kv, { start: ["a", "b"], end: ["a", "bb"] }),
      await listed(kv, { prefix: ["a", "b"], start: ["a", "b", 1] }),
      await listed(kv, { prefix: ["a"], end: ["a", "bb"] }),
    ];
  },
  "a list can be turned round and cut": async (kv) => {
    await filled(kv);
    return [
      await listed(kv, { prefix: ["a"] }, { reverse: true, limit: 3, batchSize: 2 }),
      await listed(kv, { prefix: ["a"] }, { limit: 5, batchSize: 2 }),
      await listed(kv, { prefix: ["a"] }, { reverse: true, batchSize: 4 }),
    ];
  },
  "a start outside its prefix is refused": (kv) =>
    failure(listed(kv, { prefix: ["a"], start: ["b"] })),
  "an end before its start is refused": (kv) => failure(listed(kv, { start: ["b"], end: ["a"] })),
  "values come back as they were, and on their own": async (kv) => {
    const value = { text: "é", none: undefined, list: [1, null], bytes: new Uint8Array([0, 255]) };
    await kv.set(["v"], value);
    value.list.push(2);
    const read = await kv.get<typeof value>(["v"]);
    read.value!.list.push(3);
    return [(await kv.get(["v"])).value, (await kv.get(["none"])).value];
  },
  "a check of another version changes nothing": async (kv) => {
    await kv.set(["c"], 1);
    const old = (await kv.get(["c"])).versionstamp;
    await kv.set(["c"], 2);
    const late = await kv.atomic().check({ key: ["c"], versionstamp: old }).set(["c"], 3)
      .set(["d"], 3).commit();
    const fresh = await kv.atomic().check({ key: ["d"], versionstamp: null }).set(["d"], 4)
      .commit();
    return [late, fresh.ok, (await kv.get(["c"])).value, (await kv.get(["d"])).value];
  },
  "all keys of a commit have one version, and versions grow": async (kv) => {
    const first = await kv.atomic().set(["x"], 1).set(["y"], 1).commit() as {
      versionstamp: string;
    };
    const x = await kv.get(["x"]), y = await kv.get(["y"]);
    await kv.set(["x"], 2);
    const later = await kv.get(["x"]);
    return [
      x.versionstamp === y.versionstamp,
      x.versionstamp === first.versionstamp,
      later.versionstamp! > x.versionstamp!,
      x.versionstamp!.length,
    ];
  },
  "a deleted key has no version": async (kv) => {
    await kv.set(["e"], 1);
    await kv.delete(["e"]);
    return [
      await kv.get(["e"]),
      (await kv.atomic().check({ key: ["e"], versionstamp: null }).commit()).ok,
    ];
  },
  "sums add up": async (kv) => {
    await kv.atomic().sum(["s"], 2n).commit();
    await kv.atomic().sum(["s"], 3n).commit();
    return String((await kv.get<Deno.KvU64>(["s"])).value?.value);
  },
  "a sum over something else is refused": async (kv) => {
    await kv.set(["s"], 1);
    return await failure(kv.atomic().sum(["s"], 1n).commit());
  },
  "an expiring value is there before its time": async (kv) => {
    await kv.set(["t"], 1, { expireIn: 60_000 });
    return (await kv.get(["t"])).value;
  },
  "many are read at once, but not more than ten": async (kv) => {
    await filled(kv);
    const some = await kv.getMany<number[]>(KEYS.slice(0, 10));
    return [some.map(({ value }) => value), await failure(kv.getMany(KEYS.slice(0, 11)))];
  },
  "a large value is refused": async (kv) => [
    await failure(kv.set(["l"], new Uint8Array(65_000))),
    await failure(kv.set(["l"], new Uint8Array(65_537))),
  ],
  "a long key is refused": async (kv) => [
    await failure(kv.set(["k".repeat(2_046)], 1)),
    await failure(kv.set(["k".repeat(2_047)], 1)),
    await failure(kv.get(["k".repeat(2_048)])),
    await failure(kv.set([], 1)),
  ],
  "a commit has its limits": async (kv) => {
    const sets = (n: number, key: string, value: unknown) => {
      const operation = kv.atomic();
      for (let at = 0; at < n; at++) operation.set([key, at], value);
      return failure(operation.commit());
    };
    return [
      await sets(1_000, "m", 1),
      await sets(1_001, "m", 1),
      await sets(13, "b", new Uint8Array(60_000)),
      await sets(14, "b", new Uint8Array(60_000)),
      await sets(40, "k".repeat(2_000), 1),
      await sets(41, "k".repeat(2_000), 1),
    ];
  },
  "a commit takes a hundred checks": async (kv) => [await checks(kv, 100), await checks(kv, 101)],
};

/** Runs a case on a simulated store whose time passes as fast as it can. */
async function simulated(one: Case): Promise<unknown> {
  const world = new World();
  const database = new Database(world, new Dice(1));
  database.weather.mode = "perfect";
  let over = false;
  const result = one(openKv(database, { name: "test", alive: true })).finally(() => over = true);
  await world.run(world.nowMs + 3_600_000, () => over);
  return await result;
}

async function real(one: Case): Promise<unknown> {
  const kv = await Deno.openKv(":memory:");
  try {
    return await one(kv);
  } finally {
    kv.close();
  }
}

for (const [name, one] of Object.entries(CASES)) {
  Deno.test(`the simulated store answers like a real one: ${name}`, async () => {
    assert.deepEqual(await simulated(one), await real(one));
  });
}

/** What a server over KV Connect answers otherwise than a file, and how. */
const OWN_ANSWERS: Record<string, (kv: Kv) => Promise<void>> = {
  "a sum over something else is refused": async (kv) => {
    await kv.set(["s"], 1);
    assert.match(await failure(kv.atomic().sum(["s"], 1n).commit()), /non-U64 value/);
  },
  "a commit takes a hundred checks": async (kv) => {
    assert.equal(await checks(kv, 10), "no failure");
    assert.match(await checks(kv, 11), /Too many checks/);
  },
};

for (const [name, one] of Object.entries(CASES)) {
  const own = OWN_ANSWERS[name];
  const title = own === undefined ? "answers like a file" : "has an answer of its own";
  denokvTest(`a denokv server ${title}: ${name}`, async () => {
    await using server = await DenoKvServer.start();
    using kv = await server.open();
    if (own === undefined) assert.deepEqual(await one(kv), await real(one));
    else await own(kv);
  });
}
