import assert from "node:assert/strict";
import type { Delivery } from "../../lib/model.ts";
import type { Kv } from "../../lib/store/kv.ts";
import { simulate } from "../sim/simulation.ts";
import { arrivals, post } from "./quiet_run.ts";

type Tamper = (kv: Kv) => Kv;

/** The first claim of a stored delivery fails. */
function withoutFirstClaim(): Tamper {
  let isFirst = true;
  const fails = (sets: readonly (readonly [Deno.KvKey, unknown])[]) => {
    const isNew = sets.some(([[room]]) => room === "payload");
    const claims = sets.some(([[room], value]) =>
      room === "delivery" && (value as Delivery).state === "in_flight"
    );
    return claims && !isNew && isFirst;
  };
  return (kv) => {
    const atomic = () => {
      const operation = kv.atomic();
      const sets: [Deno.KvKey, unknown][] = [];
      const set = operation.set.bind(operation);
      const commit = operation.commit.bind(operation);
      return Object.assign(operation, {
        set(...[key, value, options]: Parameters<typeof set>) {
          sets.push([key, value]);
          return set(key, value, options);
        },
        commit() {
          if (!fails(sets)) return commit();
          isFirst = false;
          return Promise.reject(new Error("away"));
        },
      });
    };
    return { ...kv, atomic } as Kv;
  };
}

/** The first two reads of a payload fail: the one ahead of the attempt, and the attempt's. */
function withoutFirstPayload(): Tamper {
  let left = 2;
  const fails = (key: Deno.KvKey) => key[0] === "payload" && left-- > 0;
  const away = () => Promise.reject(new Error("away"));
  return (kv) => {
    const get: Kv["get"] = (key, options) => fails(key) ? away() : kv.get(key, options);
    const getMany: Kv["getMany"] = (keys, options) =>
      (keys as readonly Deno.KvKey[]).some(fails) ? away() : kv.getMany(keys, options);
    return { ...kv, get, getMany } as Kv;
  };
}

/** When the target had the event at last, in seconds. */
async function lastArrivalS(endpoint: string, tamper: Tamper): Promise<number> {
  const target = { do: "target", endpoint, target: "one" } as const;
  const actions = [
    { ...target, atMs: 500, behaviour: "error" },
    post(endpoint, 1_000, 1),
    { ...target, atMs: 1_500, behaviour: "ok" },
  ] as const;
  const plan = { seed: 1, processes: 1, leaseMs: 60_000, skewMs: 0, chaosMs: 100_000 };
  const report = await simulate({ ...plan, actions: [...actions] }, tamper, "perfect");
  assert.deepEqual(report.violations, []);
  return arrivals(report).at(-1)!.atS;
}

// The free lane's first retry comes after twenty seconds by itself.
const LANES: [endpoint: string, withinS: number][] = [
  ["free", 24],
  ["line", 4],
  ["bare", 4],
  ["rated", 4],
];

for (const [endpoint, withinS] of LANES) {
  Deno.test(`a claim that fails costs a moment, no sweep, on ${endpoint}`, async () => {
    const atS = await lastArrivalS(endpoint, withoutFirstClaim());
    assert(atS < withinS, `arrived after ${atS} s`);
  });

  Deno.test(`a payload that cannot be read costs a moment, no lease, on ${endpoint}`, async () => {
    const atS = await lastArrivalS(endpoint, withoutFirstPayload());
    assert(atS < withinS, `arrived after ${atS} s`);
  });
}
