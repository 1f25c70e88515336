import assert from "node:assert/strict";
import { relative, visible } from "../../islands/format.tsx";
import { quote } from "../../routes/admin/curl.ts";
import { hexDump } from "../../routes/admin/payload_view.tsx";
import { pretty } from "../../routes/admin/pretty.ts";

Deno.test("pretty() keeps numbers, doubled keys and escapes as they were written", () => {
  assert.equal(
    pretty('{"id":12345678901234567890,"id":1.50,"t":"\\u0041 {,}","e":[],"o":{}}'),
    [
      "{",
      '  "id": 12345678901234567890,',
      '  "id": 1.50,',
      '  "t": "\\u0041 {,}",',
      '  "e": [],',
      '  "o": {}',
      "}",
    ].join("\n"),
  );
});

for (const text of ["<xml/>", '{"a":', "", "{'a':1}"]) {
  Deno.test(`pretty() leaves ${JSON.stringify(text)} alone`, () => {
    assert.equal(pretty(text), undefined);
  });
}

Deno.test("pretty() does not let deep nesting grow a body many times over", () => {
  const depth = 30_000;
  assert.equal(pretty("[".repeat(depth) + "]".repeat(depth)), undefined);
});

Deno.test("visible() shows what would act unseen", () => {
  assert.equal(visible("a\u001b[2J\u202eb\u0085\n\tc"), "a\\u{001b}[2J\\u{202e}b\\u{0085}\n\tc");
});

Deno.test("quote() makes one shell word of anything", async () => {
  const texts = ["plain", "it's", "$(id) `id` \\", "line\nbreak", "esc\u001b[201~;id", "ü 'x' \\n"];
  for (const text of texts) {
    const args = ["-c", `printf %s ${quote(text)}`];
    const { stdout } = await new Deno.Command("bash", { args }).output();
    assert.equal(new TextDecoder().decode(stdout), text);
  }
});

Deno.test("quote() writes no control character", () => {
  assert.match(quote("a\u001b\u0007\nb"), /^[\x20-\x7e]+$/);
});

Deno.test("hexDump() shows bytes with their printable characters", () => {
  const bytes = new Uint8Array([0, 0x41, 0xff, 0x3c]);
  assert.match(hexDump(bytes), /^00000000 {2}00 41 ff 3c +\.A\.<$/);
});

for (
  const [atMs, text] of [
    [1_000_000, "just now"],
    [940_000, "1 min ago"],
    [958_700, "41 s ago"],
    [1_030_000, "in 30 s"],
    [1_000_000 - 3 * 86_400_000, "3 d ago"],
  ] as const
) {
  Deno.test(`relative() says ${text}`, () => assert.equal(relative(atMs, 1_000_000), text));
}
