import assert from "node:assert/strict";
import { readHandshake, saveHandshake } from "../../lib/store/handshakes.ts";
import { TestStore } from "./open_store.ts";

Deno.test("a report that is longer than a value may be is kept in part", async () => {
  using opened = await TestStore.open();
  const { store } = opened;
  await saveHandshake(store, "hooks", { atMs: 1, report: `open ${"x".repeat(100_000)}` });
  assert.match((await readHandshake(store, "hooks"))?.report ?? "", /^open x+$/);
});
