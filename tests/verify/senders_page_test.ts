import assert from "node:assert/strict";
import { PAGE, withTable } from "./senders_table.ts";

Deno.test("the table of docs/senders.md is that of the presets", async () => {
  const page = await Deno.readTextFile(PAGE);
  assert.equal(page, withTable(page), "run: deno run -RW tests/verify/senders_table.ts");
});
