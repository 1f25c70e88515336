import assert from "node:assert/strict";
import { StoreUnavailable } from "../../lib/errors.ts";
import { Committer } from "../../lib/store/commit.ts";
import type { Kv } from "../../lib/store/kv.ts";
import type { Write } from "../../lib/store/write.ts";
import { TestClock } from "../helpers/clock.ts";
import { until } from "../helpers/wait.ts";

/** Counts the atomic operations that reach a real store. */
function counting(kv: Deno.Kv): { kv: Kv; commits: () => number } {
  let commits = 0;
  const counted = new Proxy(kv, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== "atomic") return typeof value === "function" ? value.bind(target) : value;
      return () => {
        commits++;
        return target.atomic();
      };
    },
  });
  return { kv: counted, commits: () => commits };
}

function claim(name: string, by: string): Write {
  const key = ["claim", name];
  return {
    checks: [{ key, versionstamp: null }],
    mutations: [{ type: "set", key, value: by }],
    bytes: 32,
  };
}

async function withCommitter(
  test: (parts: { kv: Deno.Kv; committer: Committer; commits: () => number }) => Promise<void>,
): Promise<void> {
  using clock = new TestClock();
  const real = await Deno.openKv(":memory:");
  try {
    const { kv, commits } = counting(real);
    await test({ kv: real, committer: new Committer(kv, clock), commits });
  } finally {
    real.close();
  }
}

Deno.test("writes that arrive during a commit share the next ones", async () => {
  await withCommitter(async ({ committer, commits }) => {
    const writes = Array.from({ length: 60 }, (_, n) => committer.commit(claim(`k${n}`, "a")));
    const results = await Promise.all(writes);
    assert(results.every(({ ok }) => ok));
    assert(commits() <= 5, `${commits()} commits for 60 writes`);
  });
});

Deno.test("a lone write goes out at once and alone", async () => {
  await withCommitter(async ({ committer, commits }) => {
    const writing = committer.commit(claim("k", "a"));
    assert.equal(commits(), 1, "the commit waits for something");
    assert.equal((await writing).ok, true);
  });
});

Deno.test("a failing check costs its own caller alone", async () => {
  await withCommitter(async ({ kv, committer }) => {
    await kv.set(["claim", "taken"], "before");
    const names = [...Array.from({ length: 99 }, (_, n) => `k${n}`)];
    names.splice(40, 0, "taken");
    const results = await Promise.all(names.map((name) => committer.commit(claim(name, "a"))));
    for (const [index, { ok }] of results.entries()) assert.equal(ok, names[index] !== "taken");
    assert.equal((await kv.get(["claim", "taken"])).value, "before");
    assert.equal((await kv.get(["claim", "k98"])).value, "a");
  });
});

Deno.test("fifty claims of one key at the same moment have one winner", async () => {
  await withCommitter(async ({ kv, committer }) => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, n) => committer.commit(claim("one", `writer ${n}`))),
    );
    const winners = results.flatMap(({ ok }, n) => ok ? [`writer ${n}`] : []);
    assert.equal(winners.length, 1);
    assert.equal((await kv.get(["claim", "one"])).value, winners[0]);
  });
});

Deno.test("a batch stays within what one operation takes, in bytes, keys and mutations", async () => {
  await withCommitter(async ({ kv, committer }) => {
    const large = Array.from({ length: 40 }, (_, n): Write => ({
      checks: [],
      mutations: [{ type: "set", key: ["large", n], value: new Uint8Array(60_000) }],
      bytes: 60_000,
    }));
    const long = Array.from({ length: 120 }, (_, n) => claim("x".repeat(1_500) + n, "a"));
    const wide = Array.from({ length: 4 }, (_, n): Write => ({
      checks: [],
      mutations: Array.from({ length: 400 }, (_, m) => ({
        type: "set",
        key: ["wide", n, m],
        value: m,
      })),
      bytes: 4_000,
    }));
    const results = await Promise.all([...large, ...long, ...wide].map((w) => committer.commit(w)));
    assert(results.every(({ ok }) => ok));
    assert.equal((await Array.fromAsync(kv.list({ prefix: ["wide"] }))).length, 1_600);
  });
});

Deno.test("counters of one batch are summed, none is lost", async () => {
  await withCommitter(async ({ kv, committer }) => {
    const count = { endpoint: "demo", minute: 7, name: "accepted", n: 1 } as const;
    await Promise.all(
      Array.from(
        { length: 200 },
        (_, n) => committer.commit({ ...claim(`k${n}`, "a"), counts: [count] }),
      ),
    );
    const stored = await kv.get<Deno.KvU64>(["stat", "demo", 7, "accepted"]);
    assert.equal(stored.value?.value, 200n);
  });
});

Deno.test("a store that does not answer is told of in time, and what still waited is not written", async () => {
  using clock = new TestClock();
  const real = await Deno.openKv(":memory:");
  try {
    const released = Promise.withResolvers<void>();
    const stuck: Kv = {
      atomic: () => {
        const operation = real.atomic();
        const commit = operation.commit.bind(operation);
        operation.commit = async () => {
          await released.promise;
          return await commit();
        };
        return operation;
      },
    } as unknown as Kv;
    const committer = new Committer(stuck, clock, 300);
    const writes = ["a", "b", "c"].map((name) => committer.commit(claim(name, "late")));
    for (const result of await Promise.allSettled(writes)) {
      assert.equal(result.status, "rejected");
      assert(result.reason instanceof StoreUnavailable);
    }
    released.resolve();
    const next = await committer.commit(claim("d", "fresh"));
    assert.equal(next.ok, true);
    const stored = await Array.fromAsync(real.list({ prefix: ["claim"] }), ({ key }) => key[1]);
    assert(!stored.includes("c"), "a write was made after its caller was told no");
  } finally {
    real.close();
  }
});

/** Takes ten checks in one commit, as `denokv` does, and counts what it refuses. */
function fewChecks(kv: Deno.Kv): { kv: Kv; refused: () => number } {
  let refused = 0;
  const atomic = () => {
    const operation = kv.atomic();
    const check = operation.check.bind(operation);
    const commit = operation.commit.bind(operation);
    let checks = 0;
    operation.check = (...added) => {
      checks += added.length;
      return check(...added);
    };
    operation.commit = () => {
      if (checks <= 10) return commit();
      refused++;
      const body = "Too many checks included in atomic write.";
      return Promise.reject(new Error(`KV Connect failed to call (status=400): ${body}`));
    };
    return operation;
  };
  return { kv: { atomic } as unknown as Kv, refused: () => refused };
}

Deno.test("a store that takes ten checks a commit gets no more, once it has said so", async () => {
  using clock = new TestClock();
  using real = await Deno.openKv(":memory:");
  const { kv, refused } = fewChecks(real);
  const committer = new Committer(kv, clock);
  const burst = (name: string) =>
    Promise.all(Array.from({ length: 60 }, (_, n) => committer.commit(claim(`${name}${n}`, "a"))));
  assert((await burst("first")).every(({ ok }) => ok));
  const learning = refused();
  assert(learning > 0, "no commit had more than ten checks");
  assert((await burst("second")).every(({ ok }) => ok));
  assert.equal(refused(), learning);
});

Deno.test("commits that never answer hold up the later ones no longer than their own time", async () => {
  using clock = new TestClock();
  using real = await Deno.openKv(":memory:");
  let silent = true;
  const atomic = () => {
    const operation = real.atomic();
    if (silent) operation.commit = () => new Promise<never>(() => {});
    return operation;
  };
  const committer = new Committer({ atomic } as unknown as Kv, clock, 300);
  const lost = ["a", "b", "c"].map((name) => committer.commit(claim(name, "lost")));
  await Promise.allSettled(lost);
  silent = false;
  assert.equal((await committer.commit(claim("d", "fresh"))).ok, true);
});

const KEPT_BYTES = 65_536;

/** A write whose value has so many bytes. */
function large(name: string, bytes: number): Write {
  const mutation = { type: "set", key: ["large", name], value: new Uint8Array(bytes) } as const;
  return { checks: [], mutations: [mutation], bytes };
}

Deno.test("a write that is larger than the store takes fails alone", async () => {
  await withCommitter(async ({ committer }) => {
    const writes = [large("a", 10), large("b", 10), large("too", KEPT_BYTES + 1), large("c", 10)];
    const results = await Promise.allSettled(writes.map((write) => committer.commit(write)));
    assert.deepEqual(results.map(({ status }) => status), [
      ...["fulfilled", "fulfilled", "rejected", "fulfilled"],
    ]);
  });
});

Deno.test("what was given up during an outage is not kept in memory", async () => {
  using clock = new TestClock();
  using real = await Deno.openKv(":memory:");
  const atomic = () => {
    const operation = real.atomic();
    operation.commit = () => new Promise<never>(() => {});
    return operation;
  };
  const committer = new Committer({ atomic } as unknown as Kv, clock, 100);
  const given: WeakRef<Write>[] = [];
  // Enough to use up all commits that may go without an answer, and then some.
  for (let round = 0; round < 16; round++) {
    const writes = Array.from({ length: 50 }, (_, n) => large(`${round}/${n}`, KEPT_BYTES / 2));
    for (const write of writes) given.push(new WeakRef(write));
    await Promise.allSettled(writes.map((write) => committer.commit(write)));
  }
  const kept = () => given.filter((one) => one.deref() !== undefined).length;
  await until(() => {
    // Garbage makes the collector come by.
    new Array(1_000_000).fill(0).map((_, n) => ({ n }));
    return kept() < given.length * 3 / 4;
  }, { what: () => `${kept()} of ${given.length} writes to be dropped` });
});
