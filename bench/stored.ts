import { monotonicFactory } from "ulid";
import type { Delivery } from "../lib/model.ts";
import { keys } from "../lib/store/keys.ts";
import { payloadRows } from "../lib/store/payload.ts";
import { storePath } from "./subjects.ts";

const ENDPOINT = "bench";
const DAY_MS = 86_400_000;
const ROWS_A_COMMIT = 200;
const COMMITS_AT_ONCE = 2;
/** Keeps the store of a million below 2 GB. */
const BODY_BYTES = 500;

/**
 * Writes deliveries into the program's store as it leaves them when it has delivered; with
 * `deadEvery` each so many-th one gave up instead. Returns the last one's id.
 */
export async function fillStore(
  folder: string,
  count: number,
  deadEvery = Infinity,
): Promise<string> {
  using kv = await Deno.openKv(storePath(folder));
  const nextId = monotonicFactory();
  const fromMs = Date.now() - 7 * DAY_MS;
  let written = 0;
  let last = "";
  const worker = async () => {
    while (written < count) {
      const size = Math.min(ROWS_A_COMMIT, count - written);
      const first = written;
      written += size;
      const group = Array.from({ length: size }, (_, n) => {
        last = nextId(fromMs + first);
        return record(last, fromMs + first, (first + n) % deadEvery === deadEvery - 1);
      });
      await write(kv, group);
    }
  };
  await Promise.all(Array.from({ length: COMMITS_AT_ONCE }, worker));
  return last;
}

async function write(kv: Deno.Kv, group: readonly Delivery[]): Promise<void> {
  const operation = kv.atomic();
  for (const delivery of group) {
    const { id, endpoint, eventId, reason, settledAtMs: atMs } = delivery;
    operation
      .set(keys.delivery(endpoint, id), delivery)
      .set(keys.event(endpoint, eventId), id, { expireIn: 30 * DAY_MS });
    if (delivery.state === "dead") operation.set(keys.dead(endpoint, id), { reason, atMs });
    for (const row of payload(id)) if (row.type === "set") operation.set(row.key, row.value);
  }
  await operation.commit();
}

function record(id: string, atMs: number, isDead: boolean): Delivery {
  const attempt = { n: 1, atMs, ms: 5 };
  return {
    ...{ id, endpoint: ENDPOINT, eventId: `stored-${id}`, method: "POST", path: "", query: "" },
    ...{ bytes: BODY_BYTES, chunks: 1, sha256: "0".repeat(64) },
    ...isDead
      ? {
        ...{ state: "dead", reason: "rejected" },
        attempts: [{ ...attempt, status: 400, outcome: "dead" }],
      }
      : { state: "delivered", attempts: [{ ...attempt, status: 200, outcome: "delivered" }] },
    acceptedAtMs: atMs,
    settledAtMs: atMs + 5,
    attemptCount: 1,
    replays: 0,
    round: { attemptsBefore: 0, refunds: 0, startedAtMs: atMs },
  };
}

function payload(id: string) {
  const headers: [string, string][] = [
    ["content-type", "application/octet-stream"],
    ["user-agent", "holdfast-bench"],
  ];
  const body = new Uint8Array(BODY_BYTES);
  const head = { endpoint: ENDPOINT, method: "POST", path: "", query: "", headers, body };
  return payloadRows(id, head, body, 100);
}
