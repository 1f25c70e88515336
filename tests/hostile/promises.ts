import assert from "node:assert/strict";
import { random, sha256 } from "../helpers/bytes.ts";
import { reached } from "../helpers/operator.ts";
import { post, type PostAnswer } from "../helpers/post.ts";
import type { Relay } from "../helpers/program.ts";
import type { Sink } from "../helpers/sink.ts";
import { StoredFile } from "./stored.ts";

/** Events whose senders were told yes: hash of the body by delivery. */
export class Promises {
  readonly kept = new Map<string, string>();

  async post(relay: Relay, size: number): Promise<PostAnswer> {
    const body = random(size);
    const answer = await post(relay, "demo", { body, headers: { "x-request-id": sha256(body) } });
    if (answer.status === "accepted") this.kept.set(answer.deliveryId, sha256(body));
    return answer;
  }
}

/** Every promised event was delivered with its bytes, and the file is sound. */
export async function isAllKept(relay: Relay, sink: Sink, { kept }: Promises): Promise<void> {
  for (const [id, hash] of kept) {
    assert.equal((await reached(relay, id, "delivered", 30_000)).sha256, hash);
  }
  await relay.kill("SIGTERM");
  const arrived = new Map(
    sink.requests.map((one) => [one.header("holdfast-delivery-id"), sha256(one.body)]),
  );
  for (const [id, hash] of kept) assert.equal(arrived.get(id), hash);
  using file = await StoredFile.open(relay.kvPath);
  assert.deepEqual(await file.complaints(), []);
  for (const [id, { storedSha256 }] of await file.records()) {
    if (kept.has(id)) assert.equal(storedSha256, kept.get(id));
  }
}

/** The answer to who is to try again later. */
export function judgeRefusal({ http, code, response }: PostAnswer): void {
  assert.deepEqual([http, code], [503, "store_unavailable"]);
  assert.equal(response.header("retry-after"), "5");
  assert.equal(response.header("content-type"), "application/problem+json");
}
