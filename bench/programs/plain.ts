/**
 * The plain reading of the design: each request is one commit of its own that also
 * enqueues one message, and the queue's listener delivers by `fetch` and settles with a
 * second commit. No shared commits, no first claim, no breaker.
 *
 * Usage: plain.ts <port> <kv file> <target URL> [deliver|hold]; `hold` accepts only.
 */
import { Hono } from "hono";
import { ulid } from "ulid";

/** KV takes 64 KiB a value and 800 KiB a commit. */
const CHUNK_BYTES = 60 * 1024;
const CHUNKS_A_COMMIT = 10;
const DEDUP_MS = 30 * 86_400_000;

const [port, kvPath, targetUrl, mode] = Deno.args;
const kv = await Deno.openKv(kvPath);

interface Stored {
  id: string;
  state: "pending" | "delivered";
  headers: [string, string][];
  chunks: number;
}

async function store(headers: [string, string][], body: Uint8Array): Promise<boolean> {
  const id = ulid();
  const eventKey = ["event", "bench", new Headers(headers).get("idempotency-key") ?? id];
  const chunks = Math.max(1, Math.ceil(body.length / CHUNK_BYTES));
  const delivery: Stored = { id, state: "pending", headers, chunks };
  let operation = kv.atomic();
  for (let n = 0; n < chunks; n++) {
    if (n > 0 && n % CHUNKS_A_COMMIT === 0) {
      await operation.commit();
      operation = kv.atomic();
    }
    const chunk = body.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES);
    operation.set(["payload", id, n], chunk);
  }
  const result = await operation
    .check({ key: eventKey, versionstamp: null })
    .set(eventKey, id, { expireIn: DEDUP_MS })
    .set(["delivery", "bench", id], delivery)
    .enqueue({ id })
    .commit();
  return result.ok;
}

async function deliver({ id }: { id: string }): Promise<void> {
  const key = ["delivery", "bench", id];
  const entry = await kv.get<Stored>(key);
  if (entry.value === null || entry.value.state === "delivered") return;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let n = 0; n < entry.value.chunks; n++) {
    const chunk = await kv.get<Uint8Array<ArrayBuffer>>(["payload", id, n]);
    if (chunk.value !== null) parts.push(chunk.value);
  }
  const { headers } = entry.value;
  const body = parts.length === 1 ? parts[0] : new Blob(parts);
  const response = await fetch(targetUrl, { method: "POST", headers, body });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`cannot deliver ${id}: status is ${response.status}`);
  await kv.atomic().check(entry).set(key, { ...entry.value, state: "delivered" }).commit();
}

const DROPPED = new Set(["host", "content-length", "connection"]);

const app = new Hono();
app.post("/hook/bench", async (context) => {
  const body = new Uint8Array(await context.req.arrayBuffer());
  const headers = [...context.req.raw.headers].filter(([name]) => !DROPPED.has(name));
  const status = await store(headers as [string, string][], body) ? "accepted" : "duplicate";
  return context.json({ status }, status === "accepted" ? 202 : 200);
});
Deno.serve({ hostname: "127.0.0.1", port: Number(port), onListen() {} }, app.fetch);
if (mode !== "hold") kv.listenQueue((message) => deliver(message as { id: string }));
