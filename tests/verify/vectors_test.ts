import assert from "node:assert/strict";
import { PROBLEMS } from "../../lib/errors.ts";
import { presetOf } from "../../lib/verify/presets.ts";
import { senderFor } from "../../lib/verify/sender.ts";
import { endpointWith, headOf, verdictOf } from "./requests.ts";
import { bodyOf, VECTORS } from "./vectors.ts";

for (const vector of VECTORS) {
  const outcome = vector.valid ? "verifies" : "is refused";
  Deno.test(`vector ${vector.provider} ${vector.name} ${outcome}`, () => {
    const secrets = presetOf(vector.provider)?.schemes.length === 0 ? [] : [vector.secret];
    const sender = senderFor(endpointWith({ provider: vector.provider }, secrets));
    const head = headOf(vector);
    const body = bodyOf(vector);
    const verdict = verdictOf(sender, head, body, vector.now * 1_000);
    assert.equal(verdict.ok, vector.valid, JSON.stringify(verdict));
    if (!verdict.ok) {
      assert.equal(PROBLEMS[verdict.code][0], 401);
      if (vector.secret.length > 3) assert.ok(!verdict.detail.includes(vector.secret));
      return;
    }
    assert.equal(sender.eventId(head, body) ?? null, vector.expected_event_id);
  });
}
