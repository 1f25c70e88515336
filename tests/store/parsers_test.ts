import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import { headerBytes } from "../../lib/decide/headers.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Delivery, PayloadHead } from "../../lib/model.ts";
import { dueEntry, keys } from "../../lib/store/keys.ts";
import {
  firstRowBytes,
  payloadRows,
  readPayloadHead,
  readWholeBody,
} from "../../lib/store/payload.ts";
import { FIRST_SCHEMA, SCHEMA, schemaFault } from "../../lib/store/schema.ts";
import { anyText, fieldValues } from "../helpers/arbitrary.ts";
import { TestStore } from "./open_store.ts";

Deno.test("dueEntry() reads every key of a due entry", () => {
  fc.assert(fc.property(anyText, fc.nat(), anyText, (endpoint, dueAtMs, id) => {
    assert.deepEqual(dueEntry(keys.due(endpoint, dueAtMs, id)), { endpoint, dueAtMs, id });
  }));
});

Deno.test("schemaFault() knows the formats up to its own, and refuses any other mark", () => {
  const mark = fc.oneof(fc.double(), fc.nat(5), fc.integer(), fc.constantFrom(1.5, 1n, "1", NaN));
  fc.assert(fc.property(mark, (mark) => {
    const isKnown = Number.isSafeInteger(mark) && Number(mark) >= FIRST_SCHEMA &&
      Number(mark) <= SCHEMA + 1;
    assert.equal(schemaFault(mark as unknown as number, SCHEMA + 1) === undefined, isKnown);
  }));
});

const name = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9a-z-]{1,20}$/);
const lines = fc.array(fc.tuple(name, fieldValues("a: b", "", "x")), { maxLength: 8 });

Deno.test("a stored request reads as it came: every header line and every byte", async () => {
  using testStore = await TestStore.open();
  const { store } = testStore;
  const size = fc.oneof(fc.nat(300), fc.nat(3 * LIMITS.chunkBytes));
  let n = 0;
  await fc.assert(
    fc.asyncProperty(lines, size, async (headers, bytes) => {
      const id = String(n++);
      const body = Uint8Array.from({ length: bytes }, (_, at) => at * 31 + bytes);
      const head = { endpoint: "demo", method: "POST", path: "", query: "", headers };
      const reserved = headerBytes(headers);
      fc.pre(reserved <= LIMITS.headerBytes);
      const first = body.subarray(0, firstRowBytes(reserved));
      const rows = payloadRows(id, { ...head, body: first }, body, reserved);
      const operation = store.kv.atomic();
      for (const row of rows) if (row.type === "set") operation.set(row.key, row.value);
      await operation.commit();
      const read = await readPayloadHead(store, id) as PayloadHead;
      assert.deepEqual(read.headers, headers);
      const delivery = { id, chunks: rows.length, bytes } as Delivery;
      assert.deepEqual(await readWholeBody(store, delivery, read), body);
    }),
    { numRuns: 60 },
  );
});
