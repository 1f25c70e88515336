import assert from "node:assert/strict";
import type { HeaderList, RequestHead } from "../../lib/model.ts";
import { PRESETS } from "../../lib/verify/presets.ts";
import { isTimed } from "../../lib/verify/restamp.ts";
import { senderFor } from "../../lib/verify/sender.ts";
import { fits } from "../../lib/verify/verifier.ts";
import { codeOf, endpointWith, headOf, verdictOf } from "./requests.ts";
import { bodyOf, VECTORS } from "./vectors.ts";

const H = 3_600_000;

const TIMED = PRESETS.flatMap((preset) =>
  preset.schemes.filter(isTimed).map((scheme) => ({ preset, scheme }))
);

const valuesOf = (headers: HeaderList, name: string) =>
  headers.filter(([key]) => key === name).map(([, value]) => value);

function* pieces(body: Uint8Array) {
  for (let at = 0; at < body.length; at += 11) yield body.subarray(at, at + 11);
}

async function restamped(
  provider: string,
  secrets: string[],
  head: RequestHead,
  body: Uint8Array,
  atMs: number,
) {
  const sender = senderFor(endpointWith({ provider, restamp: true }, secrets));
  assert.ok(sender.restamp);
  return { ...head, headers: await sender.restamp(head, pieces(body), atMs) };
}

Deno.test("the presets with a time that can be renewed are these", () => {
  const names = new Set(TIMED.map(({ preset }) => preset.name));
  assert.deepEqual([...names].sort(), [
    ...["calendly", "clerk", "contentful", "gitlab-signed", "hubspot", "openai", "paddle"],
    ...["resend", "sanity", "slack", "standard-webhooks", "stripe", "svix", "twitch", "zendesk"],
    "zoom",
  ]);
});

for (const { preset, scheme } of TIMED) {
  const vectors = VECTORS.filter((one) =>
    one.provider === preset.name && one.valid && fits(scheme, one.secret)
  );
  Deno.test(`${preset.name} verifies six hours later once it is signed anew`, async () => {
    for (const vector of vectors) {
      const [head, body] = [headOf(vector), bodyOf(vector)];
      const laterMs = vector.now * 1_000 + 6 * H;
      const sender = senderFor(endpointWith({ provider: preset.name }, [vector.secret]));
      const expired = scheme.timestamp.toleranceMs === undefined ? "ok" : "expired_timestamp";
      assert.equal(codeOf(verdictOf(sender, head, body, laterMs)), expired, vector.name);
      const again = await restamped(preset.name, [vector.secret], head, body, laterMs);
      assert.equal(codeOf(verdictOf(sender, again, body, laterMs)), "ok", vector.name);
      assert.equal(sender.eventId(again, body), sender.eventId(head, body));
    }
  });
}

const SLACK = VECTORS.find((one) => one.provider === "slack" && one.name === "valid-event");
const slackHead = headOf(SLACK!);

Deno.test("the sender's own headers stay beside the new ones", async () => {
  const atMs = (SLACK!.now + 172_800) * 1_000;
  const { headers } = await restamped("slack", [SLACK!.secret], slackHead, bodyOf(SLACK!), atMs);
  for (const name of ["x-slack-signature", "x-slack-request-timestamp"]) {
    const [old] = valuesOf(slackHead.headers, name);
    assert.deepEqual(valuesOf(headers, `holdfast-original-${name}`), [old]);
    assert.equal(valuesOf(headers, name).length, 1);
    assert.notEqual(valuesOf(headers, name)[0], old);
  }
  assert.deepEqual(valuesOf(headers, "x-slack-request-timestamp"), [String(SLACK!.now + 172_800)]);
  assert.deepEqual(valuesOf(headers, "content-type"), valuesOf(slackHead.headers, "content-type"));
});

Deno.test("originals that came with the request are replaced, not doubled", async () => {
  const name = "holdfast-original-x-slack-signature";
  const head = { ...slackHead, headers: [...slackHead.headers, [name, "forged"] as const] };
  const { headers } = await restamped("slack", [SLACK!.secret], head, bodyOf(SLACK!), 1e12);
  assert.deepEqual(valuesOf(headers, name), valuesOf(slackHead.headers, "x-slack-signature"));
});

Deno.test("a list of signatures gets one of every secret", async () => {
  const vector = VECTORS.find((one) => one.provider === "stripe" && one.name === "valid")!;
  const [head, body] = [headOf(vector), bodyOf(vector)];
  const again = await restamped("stripe", ["whsec_new", "whsec_old"], head, body, 1e12);
  for (const secret of ["whsec_new", "whsec_old"]) {
    const sender = senderFor(endpointWith({ provider: "stripe" }, [secret]));
    assert.equal(codeOf(verdictOf(sender, again, body, 1e12)), "ok");
  }
});

Deno.test("a request without a signature is left as it is", async () => {
  const head = headOf({ headers: { "content-type": "text/plain" } });
  const again = await restamped("slack", ["s"], head, new Uint8Array(), 1e12);
  assert.deepEqual(again, head);
});

Deno.test("without restamp in the configuration there is none", () => {
  assert.equal(senderFor(endpointWith({ provider: "slack", secret: "s" })).restamp, undefined);
});
