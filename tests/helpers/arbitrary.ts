import { Buffer } from "node:buffer";
import { fc } from "./properties.ts";

/** What parsers are fed with, shared by the properties of all rooms. */

/** A parser takes microseconds, so each is asked more often than the library's hundred times. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: 400 });

const codeUnit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

/** Texts that parsers, keys and lookups trip over. */
const ODD = [
  ...["", " ", "\0", "\t", "\r\n", "\ud800", "\ufeff", "\u2028", "é\u{1F600}", "%", "%zz", "\\"],
  ...["0", "-1", "1e999", "0x10", "NaN", "Infinity", "9".repeat(400), "null", "[]", "{}"],
  ...["__proto__", "constructor", "toString", "../..", "//", "?#", "=", ",", ";", ":"],
];

/** Any text: control characters, lone surrogates and names of inherited properties included. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ unit: codeUnit, maxLength: 40 }),
  fc.string({ maxLength: 40 }),
  fc.constantFrom(...ODD),
);

const edit = fc.record({
  at: fc.nat(200),
  cut: fc.nat(3),
  put: fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom(...ODD)),
});

/** A text that is valid but for a few changes, where parsers are most likely to slip. */
export function near(...valid: readonly string[]): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(...valid), fc.array(edit, { maxLength: 3 })).map(
    ([text, edits]) =>
      edits.reduce((changed, { at, cut, put }) => {
        const from = at % (changed.length + 1);
        return changed.slice(0, from) + put + changed.slice(from + cut);
      }, text),
  );
}

/** Long runs of short pieces, on which a careless pattern never comes to an end. */
export function long(...pieces: readonly string[]): fc.Arbitrary<string> {
  return fc.tuple(
    fc.constantFrom("", ...pieces),
    fc.oneof(fc.constantFrom(...pieces), fc.string({ minLength: 1, maxLength: 3 })),
    fc.integer({ min: 1, max: 20_000 }),
    fc.constantFrom("", ...pieces, "!"),
  ).map(([before, piece, times, after]) => before + piece.repeat(times) + after);
}

/** Any text, texts like the valid ones, and long ones made of their pieces. */
export function texts(...valid: readonly string[]): fc.Arbitrary<string> {
  const pieces = valid.map((text) => text.slice(-2)).filter((piece) => piece !== "");
  return fc.oneof(
    { weight: 4, arbitrary: near(...valid) },
    { weight: 3, arbitrary: anyText },
    { weight: 1, arbitrary: long(...pieces, " ", "0", "a", ",", "/") },
  );
}

/** Some of the named texts, most of them valid, so that a mistake is not always hidden by others. */
export function someOf(valid: Readonly<Record<string, string>>, most = 4) {
  const names = fc.subarray(Object.keys(valid), { maxLength: most });
  return names.chain((names): fc.Arbitrary<Record<string, string>> => {
    const value = (text: string) =>
      fc.oneof({ weight: 2, arbitrary: fc.constant(text) }, { weight: 1, arbitrary: texts(text) });
    return fc.record(Object.fromEntries(names.map((name) => [name, value(valid[name])])));
  });
}

/** A header value as it comes in: one char a byte, no line ends. */
export function fieldValues(...valid: readonly string[]): fc.Arbitrary<string> {
  // Through bytes: V8 stores a text in two bytes a char where it was cut out of one that needs them.
  return texts(...valid).map((text) =>
    // deno-lint-ignore no-control-regex
    Buffer.from(text.replace(/[\0\r\n]|[^\x00-\xff]/g, "\xff"), "latin1").toString("latin1")
  );
}

/** JSON values, those included that no converter to text takes. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  fc.constantFrom<unknown>(
    { toString: null, valueOf: null },
    JSON.parse('{"__proto__":{"id":"x"}}'),
    1e308,
    -0,
    2 ** 53,
  ),
);

const encoded = (text: string) => new TextEncoder().encode(text);

/** Bytes of a body: anything, JSON, JSON that was cut or changed, lists as deep as they are long. */
export const anyBody: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  anyJson.map((value) => encoded(JSON.stringify(value))),
  near('{"id":"e1","n":[1,2.50,-3e2]}', '{"event":{"id":9007199254740993}}').map(encoded),
  fc.tuple(fc.integer({ min: 1, max: 50_000 }), fc.constantFrom("[", '{"id":')).map(
    ([depth, open]) => {
      return encoded(open.repeat(depth) + "1" + (open === "[" ? "]" : "}").repeat(depth));
    },
  ),
);
