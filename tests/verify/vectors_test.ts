import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { PROBLEMS } from "../../lib/errors.ts";
import { presetOf } from "../../lib/verify/presets.ts";
import { senderFor } from "../../lib/verify/sender.ts";
import { bytes, endpointWith, headOf, verdictOf } from "./requests.ts";

/** One request of tests/data/providers/vectors.json; that folder's README explains it. */
interface Vector {
  provider: string;
  name: string;
  secret: string;
  url?: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
  body_base64?: string;
  now: number;
  valid: boolean;
  expected_event_id: string | null;
}

const file = new URL("../data/providers/vectors.json", import.meta.url);
const vectors: Vector[] = JSON.parse(Deno.readTextFileSync(file));

for (const vector of vectors) {
  const outcome = vector.valid ? "verifies" : "is refused";
  Deno.test(`vector ${vector.provider} ${vector.name} ${outcome}`, () => {
    const secrets = presetOf(vector.provider)?.schemes.length === 0 ? [] : [vector.secret];
    const sender = senderFor(endpointWith({ provider: vector.provider }, secrets));
    const head = headOf(vector);
    const body = vector.body === undefined
      ? new Uint8Array(Buffer.from(vector.body_base64 ?? "", "base64"))
      : bytes(vector.body);
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
