import assert from "node:assert/strict";
import type { SignatureScheme } from "../../lib/signature_scheme.ts";
import type { IdSource } from "../../lib/verify/identity.ts";
import type { Preset } from "../../lib/verify/preset.ts";
import { PRESETS, PROVIDERS } from "../../lib/verify/presets.ts";

/** What of tests/data/providers/providers.json our table states, too. */
interface Facts {
  id: string;
  aliases: string[];
  mode: "verify" | "pass-through" | "unsigned";
  headers: { signature: string | null; event_type: string | null };
  timestamp: {
    required: boolean;
    unit: string | null;
    tolerance_s: number | null;
    boundary: "inclusive" | "exclusive";
  };
  event_id: {
    candidates: { parts: string[]; join?: string; each?: string }[];
    fallback: "body-sha256" | "off";
  };
  delivery: { success: string; answer: { status: number; body: string } };
  handshakes: { name: string }[];
}

const FACTS: readonly Facts[] = JSON.parse(
  Deno.readTextFileSync(new URL("../data/providers/providers.json", import.meta.url)),
);

const factsOf = (preset: Preset) => FACTS.find((facts) => facts.id === preset.name) as Facts;

const signatureOf = (preset: Preset) =>
  preset.schemes.find((scheme): scheme is SignatureScheme => scheme.type === "signature");

function normalId(source: IdSource) {
  const { parts, join, each } = typeof source === "string" ? { parts: [source] } : source;
  return { parts: [...parts], ...(join && { join }), ...(each === undefined ? {} : { each }) };
}

function normalCandidate({ parts, join, each }: Facts["event_id"]["candidates"][number]) {
  const written = parts.map((part) =>
    part.startsWith("header:")
      ? part.toLowerCase()
      : part.replace("form_json:payload:", "form:payload")
  );
  return { parts: written, ...(join && { join }), ...(each === undefined ? {} : { each }) };
}

Deno.test("every sender of the facts is a preset and the other way round", () => {
  assert.deepEqual(PRESETS.map((preset) => preset.name).sort(), FACTS.map(({ id }) => id).sort());
});

Deno.test("names and aliases are those of the facts, none is used twice", () => {
  const names = PRESETS.flatMap((preset) => [preset.name, ...preset.aliases ?? []]);
  assert.equal(new Set(names).size, names.length);
  const known = FACTS.flatMap(({ id, aliases }) => [id, ...aliases]);
  assert.deepEqual([...PROVIDERS].sort(), known.sort());
});

for (const preset of PRESETS) {
  const facts = factsOf(preset);
  Deno.test(`preset ${preset.name} is what the facts say`, () => {
    assert.equal(preset.schemes.length > 0, facts.mode === "verify", "mode");
    assert.equal(preset.unverified === undefined, facts.mode === "verify", "reason");
    assert.equal(preset.acceptStatus, facts.delivery.answer.status, "status");
    assert.deepEqual(preset.id.map(normalId), facts.event_id.candidates.map(normalCandidate));
    assert.equal(preset.fallback === "off", facts.event_id.fallback === "off", "fallback");
    const eventType = preset.fallback === "off" ? undefined : preset.fallback.eventType;
    if (preset.fallback !== "off") {
      assert.equal(eventType ?? null, facts.headers.event_type?.toLowerCase() ?? null);
    }
  });

  const scheme = signatureOf(preset);
  if (scheme === undefined) continue;
  Deno.test(`preset ${preset.name} looks for signature and time where the facts say`, () => {
    const header = facts.headers.signature?.toLowerCase();
    if (header) assert.equal(scheme.signature[0], `header:${header}`);
    else assert.ok(scheme.signature[0].startsWith("body:"));
    assert.equal(scheme.timestamp !== undefined, facts.timestamp.required);
    const toleranceMs = scheme.timestamp?.toleranceMs;
    if (scheme.timestamp === undefined) return;
    assert.equal(
      toleranceMs,
      facts.timestamp.tolerance_s && facts.timestamp.tolerance_s * 1_000 || undefined,
    );
    assert.equal(scheme.timestamp.unit, facts.timestamp.unit);
    assert.equal(scheme.timestamp.exclusive ?? false, facts.timestamp.boundary === "exclusive");
  });
}

Deno.test("an answer that the sender would show or run is a document of its own or empty", () => {
  const bodies = PRESETS.filter((preset) => preset.acceptBody !== undefined)
    .map(({ name, acceptBody }) => [
      name,
      typeof acceptBody === "object" ? acceptBody.body : acceptBody,
    ]);
  assert.deepEqual(Object.fromEntries(bodies), {
    adyen: "[accepted]",
    airtable: "empty",
    discord: `{"type":5}`,
    "discord-events": "empty",
    okta: "empty",
    slack: "empty",
    telegram: "empty",
    twilio: "<Response/>",
  });
});
