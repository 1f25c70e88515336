import assert from "node:assert/strict";
import { retrySchema } from "../../lib/retry_policy.ts";
import { customSignatureSchema } from "../../lib/signature_scheme.ts";

const CASES = [
  { schema: retrySchema, good: "standard", noun: "retry policy" },
  { schema: customSignatureSchema, good: "hmac-sha256-hex", noun: "signature scheme" },
];

for (const { schema, good, noun } of CASES) {
  Deno.test(`a ${noun} is taken by its name, and an unknown one is told those that are`, () => {
    assert(schema.safeParse(good).success);
    for (const name of ["nope", "", "toString", "__proto__"]) {
      const messages = schema.safeParse(name).error?.issues.map(({ message }) => message) ?? [];
      assert.equal(messages.length, 1, name);
      assert(messages[0].startsWith(`is not a ${noun} (known: `), messages[0]);
      assert(messages[0].includes(good), messages[0]);
    }
  });
}
