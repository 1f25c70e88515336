import assert from "node:assert/strict";
import { StoreUnavailable } from "../../lib/errors.ts";
import { withReadFaults } from "../../lib/store/reads.ts";

Deno.test("whatever a read rejects with, it is an outage, and its cause is kept", async () => {
  const opened = await Deno.openKv(":memory:");
  const kv = withReadFaults(opened);
  await kv.set(["a"], 1);
  assert.equal((await kv.get(["a"])).value, 1);
  kv.close();
  const reads = {
    get: () => kv.get(["a"]),
    getMany: () => kv.getMany([["a"]]),
    list: () => Array.fromAsync(kv.list({ prefix: [] })),
  };
  for (const [name, read] of Object.entries(reads)) {
    await assert.rejects(read, (error: Error) => {
      assert(error instanceof StoreUnavailable, name);
      assert(error.cause instanceof Deno.errors.BadResource, name);
      return true;
    });
  }
});
