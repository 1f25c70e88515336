import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import { jsonText } from "../../lib/observe/json_text.ts";
import { parsePosition, positionText } from "../../lib/observe/live/position.ts";
import { parseTraceparent, traceparent } from "../../lib/observe/telemetry/traceparent.ts";
import { textLine } from "../../lib/observe/text_line.ts";
import { anyJson, anyText, texts } from "../helpers/arbitrary.ts";

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const NO_TRACE = `00-${"0".repeat(32)}-b7ad6b7169203331-01`;

Deno.test("parseTraceparent() takes any header, and what it reads is written the same", () => {
  fc.assert(fc.property(texts(PARENT, `cc-${PARENT.slice(3)}-more`, NO_TRACE), (text) => {
    const span = parseTraceparent(text);
    if (span === undefined) return;
    assert.match(span.traceId, /^(?!0+$)[0-9a-f]{32}$/);
    assert.match(span.spanId, /^(?!0+$)[0-9a-f]{16}$/);
    assert.deepEqual(parseTraceparent(traceparent(span)), span);
  }));
});

Deno.test("parseTraceparent() reads every trace that was written", () => {
  const hex = (digits: number) =>
    fc.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`)).filter((text) => !/^0+$/.test(text));
  fc.assert(fc.property(hex(32), hex(16), fc.constantFrom(0, 1), (traceId, spanId, traceFlags) => {
    const span = { traceId, spanId, traceFlags, isRemote: true };
    assert.deepEqual(parseTraceparent(traceparent(span)), span);
  }));
});

Deno.test("parsePosition() takes any text, and what it reads is written the same", () => {
  fc.assert(fc.property(texts("owner.1z~other.0", "a-b_c.zz"), (text) => {
    const position = parsePosition(text);
    if (position === undefined) return;
    for (const seq of position.values()) assert.ok(Number.isSafeInteger(seq));
    if (position.size <= 100) assert.deepEqual(parsePosition(positionText(position)), position);
  }));
});

// deno-lint-ignore no-control-regex
const STEERING = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

Deno.test("jsonText() is one line that steers no terminal, and reads as what was written", () => {
  const value = fc.oneof(anyJson, fc.dictionary(anyText, anyText));
  fc.assert(fc.property(value, (value) => {
    const text = jsonText(value);
    assert.doesNotMatch(text, STEERING);
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
  }));
});

Deno.test("textLine() is one line that steers no terminal, whatever its fields hold", () => {
  const fields = fc.dictionary(fc.constantFrom("eventId", "endpoint", "message"), anyText);
  fc.assert(fc.property(fields, (fields) => {
    const time = "2026-11-30T12:00:00.000Z";
    const line = textLine({ time, level: "info", event: "accepted", fields }, false);
    assert.doesNotMatch(line, STEERING);
  }));
});
