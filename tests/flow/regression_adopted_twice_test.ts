import assert from "node:assert/strict";
import type { Delivery } from "../../lib/model.ts";
import type { Kv } from "../../lib/store/kv.ts";
import { simulate } from "../sim/simulation.ts";
import { arrivals, post } from "./quiet_run.ts";

/** A delivery's way into the store, as its commits tell it. */
type Step = "accept" | "claim" | "other";

function stepOf(sets: readonly (readonly [Deno.KvKey, unknown])[]): Step {
  if (sets.some(([[room]]) => room === "payload")) return "accept";
  const claims = sets.some(([[room], value]) =>
    room === "delivery" && (value as Delivery).state === "in_flight"
  );
  return claims ? "claim" : "other";
}

/**
 * A store that loses the answer to the first event's commit and is slow to show what became of
 * it, so that the sender is told 503 meanwhile. Its repeat has the delivery claimed, and the
 * first request's look sees that claim while the answer to it is on its way.
 */
function slowToTell(kv: Kv): Kv {
  const claimed = Promise.withResolvers<void>();
  let isFirstCommit = true;
  let isFirstLook = true;
  let isFirstRead = true;

  /** A read takes some five milliseconds. */
  async function wait(reads: number) {
    for (let n = 0; n < reads; n++) await kv.get(["none"]);
  }

  async function commit(operation: Deno.AtomicOperation, step: Step) {
    const result = await operation.commit();
    if (step === "accept" && isFirstCommit) {
      isFirstCommit = false;
      return await new Promise<never>(() => {});
    }
    if (step === "claim") {
      claimed.resolve();
      await wait(50);
    }
    return result;
  }

  async function delay([room]: Deno.KvKey) {
    if (room === "event" && isFirstLook) {
      isFirstLook = false;
      await wait(600);
    } else if (room === "delivery" && isFirstRead) {
      isFirstRead = false;
      await claimed.promise;
    }
  }

  return {
    ...kv,
    async get(key: Deno.KvKey, options?: { consistency?: Deno.KvConsistencyLevel }) {
      await delay(key);
      return await kv.get(key, options);
    },
    atomic() {
      const operation = kv.atomic();
      const sets: [Deno.KvKey, unknown][] = [];
      const set = operation.set.bind(operation);
      const inner = { commit: operation.commit.bind(operation) } as Deno.AtomicOperation;
      return Object.assign(operation, {
        set(...[key, value, options]: Parameters<typeof set>) {
          sets.push([key, value]);
          return set(key, value, options);
        },
        commit: () => commit(inner, stepOf(sets)),
      });
    },
  } as Kv;
}

Deno.test("a request that sees a claim before its answer leaves the delivery to it", async () => {
  const plan = { seed: 1, processes: 1, leaseMs: 60_000, skewMs: 0, chaosMs: 30_000 };
  const actions = [post("free", 1_000, 1), post("free", 9_100, 1)];
  const report = await simulate({ ...plan, actions }, slowToTell, "perfect");
  assert.deepEqual(report.violations, []);
  assert.equal(arrivals(report).length, 1);
});
