import assert from "node:assert/strict";
import type { Delivery } from "../../lib/model.ts";
import { type ComplaintCode, examine } from "../../lib/store/doctor.ts";
import { keys } from "../../lib/store/keys.ts";
import type { Kv } from "../../lib/store/kv.ts";
import { SCHEMA } from "../../lib/store/schema.ts";

const NOW_MS = Date.UTC(2030, 0, 1);
const ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const DAY_MS = 86_400_000;

const PENDING: Delivery = {
  ...{ id: ID, endpoint: "demo", eventId: "e1", state: "pending", dueAtMs: NOW_MS },
  ...{ method: "POST", path: "", query: "", bytes: 3, chunks: 1, sha256: "" },
  ...{ acceptedAtMs: NOW_MS, attemptCount: 0, attempts: [], replays: 0 },
  round: { attemptsBefore: 0, refunds: 0 },
};

/** A healthy store with one waiting delivery. */
async function healthy(kv: Kv): Promise<void> {
  await kv.atomic()
    .set(keys.delivery("demo", ID), PENDING)
    .set(keys.due("demo", NOW_MS, ID), 0)
    .set(keys.payload(ID, 0), { endpoint: "demo", body: new Uint8Array(3) })
    .sum(keys.stat("demo", NOW_MS / 60_000, "accepted"), 1n)
    .commit();
}

const record = (kv: Kv, changes: Partial<Delivery>) =>
  kv.set(keys.delivery("demo", ID), { ...PENDING, ...changes });

/** What is broken on purpose, and what the doctor says to it. */
const SABOTAGE: [name: string, codes: ComplaintCode[], (kv: Kv) => Promise<unknown>][] = [
  ["nothing", [], () => Promise.resolve()],
  ["a due entry is missing", ["due_missing"], (kv) => kv.delete(keys.due("demo", NOW_MS, ID))],
  ["a due entry has no record", ["due_orphan"], (kv) => kv.set(keys.due("demo", 5, "other"), 0)],
  ["a due entry is an old one", ["due_stale"], (kv) => kv.set(keys.due("demo", 5, ID), 0)],
  [
    "a settled delivery is still due",
    ["due_orphan"],
    (kv) => record(kv, { state: "delivered", dueAtMs: undefined }),
  ],
  [
    "a lease ran out long ago",
    ["lease_lapsed"],
    async (kv) => {
      await kv.delete(keys.due("demo", NOW_MS, ID));
      await kv.set(keys.due("demo", NOW_MS - DAY_MS, ID), 1);
      await record(kv, { state: "in_flight", dueAtMs: NOW_MS - DAY_MS });
    },
  ],
  [
    "a dead delivery is not listed",
    ["dead_missing"],
    async (kv) => {
      await kv.delete(keys.due("demo", NOW_MS, ID));
      await record(kv, { state: "dead", dueAtMs: undefined });
    },
  ],
  ["a living one is listed as dead", ["dead_orphan"], (kv) => kv.set(keys.dead("demo", ID), {})],
  ["a payload is missing", ["payload_missing"], (kv) => kv.delete(keys.payload(ID, 0))],
  ["a chunk is missing", ["payload_incomplete"], (kv) => record(kv, { chunks: 2 })],
  [
    "a payload has no record",
    ["payload_orphan"],
    (kv) => kv.set(keys.payload("other", 0), { endpoint: "demo" }),
  ],
  [
    "chunks have no owner",
    ["payload_orphan"],
    (kv) => kv.set(keys.payload("other", 1), new Uint8Array(3)),
  ],
  [
    "chunks are just arriving",
    [],
    (kv) =>
      kv.atomic().set(keys.payload("other", 1), new Uint8Array(3)).set(keys.staging("other"), {
        atMs: NOW_MS,
      }).commit(),
  ],
  [
    "a staging was left behind",
    ["staging_old"],
    (kv) => kv.set(keys.staging("other"), { atMs: NOW_MS - DAY_MS }),
  ],
  [
    "the store is a newer release's",
    ["schema_other"],
    (kv) => kv.set(keys.schema(), SCHEMA + 1),
  ],
  [
    "a counter is too low",
    ["counter_low"],
    (kv) => kv.delete(keys.stat("demo", NOW_MS / 60_000, "accepted")),
  ],
];

for (const [name, expected, sabotage] of SABOTAGE) {
  Deno.test(`the doctor tells ${expected.join(", ") || "nothing"} where ${name}`, async () => {
    const kv = await Deno.openKv(":memory:");
    try {
      await healthy(kv);
      await sabotage(kv);
      const found = await Array.fromAsync(examine(kv, NOW_MS));
      assert.deepEqual(found.map(({ code }) => code), expected);
    } finally {
      kv.close();
    }
  });
}
