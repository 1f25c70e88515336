import { monotonicFactory } from "ulid";
import { keys } from "../../lib/store/keys.ts";
import type { Delivery, PayloadHead } from "../../lib/model.ts";
import { load } from "../load.ts";
import { median, shown } from "../numbers.ts";
import { BODY_BYTES, type Options } from "../options.ts";
import type { Report } from "../report.ts";
import { Sink } from "../sink.ts";
import { startSubject, storePath } from "../subjects.ts";
import { inFolder } from "../workspace.ts";

const WARM_UP_POSTS = 2_000;
const PATIENCE_MS = 15_000;
const ROWS_A_COMMIT = 200;
const COMMITS_AT_ONCE = 2;
/** Keeps the store of a million below 2 GB. */
const STORED_BYTES = 500;

/** Accepts a second with many delivered deliveries in the store, against an empty one. */
export async function million(options: Options): Promise<Report> {
  return await inFolder((full) =>
    inFolder(async (empty) => {
      await fill(storePath(full), options.stored);
      const before: number[] = [], after: number[] = [];
      for (let round = 0; round < options.rounds; round++) {
        before.push(await acceptsPerSecond(empty, options));
        after.push(await acceptsPerSecond(full, options));
      }
      const [fresh, loaded] = [median(before), median(after)];
      return {
        title: `Accepts with ${shown(options.stored)} stored, 2 KB, medians of ${options.rounds}`,
        columns: ["stored", "accepts/s"],
        rows: [["0", shown(fresh)], [shown(options.stored), shown(loaded)]],
        verdicts: [{
          what: `accepts/s with ${shown(options.stored)} stored against an empty store`,
          value: loaded / fresh,
          bound: "≥",
          target: 0.8,
          unit: "×",
        }],
      };
    })
  );
}

async function acceptsPerSecond(folder: string, { flags, seconds }: Options): Promise<number> {
  await using sink = await Sink.start();
  await using subject = await startSubject("holdfast", { sinkPort: sink.port, folder, flags });
  const { port } = subject;
  const warmUp = await load({ port, bodyBytes: BODY_BYTES, posts: WARM_UP_POSTS });
  await sink.arrived(warmUp.accepted, PATIENCE_MS);
  await sink.reset();
  const sent = await load({ port, bodyBytes: BODY_BYTES, seconds });
  await sink.arrived(sent.accepted, PATIENCE_MS);
  return sent.accepted / sent.seconds;
}

/** Writes rows as the program leaves them when it has delivered. */
async function fill(path: string, count: number): Promise<void> {
  using kv = await Deno.openKv(path);
  const nextId = monotonicFactory();
  const fromMs = Date.now() - 7 * 86_400_000;
  let written = 0;
  const worker = async () => {
    while (written < count) {
      const rows = Math.min(ROWS_A_COMMIT, count - written);
      const atMs = fromMs + written;
      written += rows;
      await writeDelivered(kv, Array.from({ length: rows }, () => nextId(atMs)), atMs);
    }
  };
  await Promise.all(Array.from({ length: COMMITS_AT_ONCE }, worker));
}

async function writeDelivered(kv: Deno.Kv, ids: readonly string[], atMs: number): Promise<void> {
  const operation = kv.atomic();
  for (const id of ids) {
    const record = delivered(id, atMs);
    operation
      .set(keys.delivery("bench", id), record)
      .set(keys.event("bench", record.eventId), id, { expireIn: 30 * 86_400_000 })
      .set(keys.payload(id, 0), payload());
  }
  await operation.commit();
}

function delivered(id: string, atMs: number): Delivery {
  return {
    id,
    endpoint: "bench",
    eventId: `stored-${id}`,
    state: "delivered",
    method: "POST",
    path: "",
    query: "",
    bytes: STORED_BYTES,
    chunks: 1,
    sha256: "0".repeat(64),
    acceptedAtMs: atMs,
    settledAtMs: atMs + 5,
    attemptCount: 1,
    attempts: [{ n: 1, atMs, ms: 5, status: 200, outcome: "delivered" }],
    replays: 0,
    round: { attemptsBefore: 0, refunds: 0, startedAtMs: atMs },
  };
}

function payload(): PayloadHead {
  return {
    endpoint: "bench",
    method: "POST",
    path: "",
    query: "",
    headers: [["content-type", "application/octet-stream"], ["user-agent", "holdfast-bench"]],
    body: new Uint8Array(STORED_BYTES),
  };
}
