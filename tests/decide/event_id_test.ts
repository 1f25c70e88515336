import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { LIMITS } from "../../lib/limits.ts";
import { eventKey, idAtPath } from "../../lib/decide/event_id.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

const PATHS: [body: string, path: string, id: string | undefined][] = [
  [`{"id":"e1"}`, "id", "e1"],
  [`{"event":{"id":"e1"}}`, "event.id", "e1"],
  [`{"events":[{"id":"a"},{"id":"b"}]}`, "events.1.id", "b"],
  [`{"id":9007199254740993}`, "id", "9007199254740993"],
  [`{"id":9007199254740992}`, "id", "9007199254740992"],
  [`{"id":1.50}`, "id", "1.50"],
  [`{"id":"\\u00e4\\ud83d\\ude00"}`, "id", "ä😀"],
  [`{"id":false}`, "id", "false"],
  [`{"id":0}`, "id", "0"],
  [`{"id":""}`, "id", undefined],
  [`{"id":"  "}`, "id", undefined],
  [`{"id":null}`, "id", undefined],
  [`{"id":{"x":1}}`, "id", undefined],
  [`{"id":[1]}`, "id", undefined],
  [`{"events":["a"]}`, "events.length", undefined],
  [`{"id":"text"}`, "id.length", undefined],
  [`{"n":5}`, "n.source", undefined],
  [`{}`, "__proto__.constructor.name", undefined],
  [`{}`, "constructor.name", undefined],
  [`{"__proto__":{"id":"own"}}`, "__proto__.id", "own"],
  [`[{"id":"a"}]`, "0.id", "a"],
  [`null`, "id", undefined],
  [`id=e1`, "id", undefined],
  [``, "id", undefined],
];

for (const [body, path, id] of PATHS) {
  Deno.test(`idAtPath() finds ${id} at ${path} of ${body || "nothing"}`, () => {
    assert.equal(idAtPath(bytes(body), path), id);
  });
}

Deno.test("idAtPath() finds nothing in a compressed body", () => {
  assert.equal(idAtPath(gzipSync(`{"id":"z1"}`), "id"), undefined);
});

Deno.test("idAtPath() finds nothing in a body that is not UTF-8", () => {
  assert.equal(idAtPath(Uint8Array.from([...bytes(`{"id":"`), 0xff, 0x22, 0x7d]), "id"), undefined);
});

Deno.test("eventKey() keeps an id of the largest size that fits", () => {
  const id = "a".repeat(LIMITS.eventIdBytes);
  assert.equal(eventKey(id), id);
});

Deno.test("eventKey() measures bytes, not characters", () => {
  const id = "😀".repeat(LIMITS.eventIdBytes / 4);
  assert.equal(eventKey(id), id);
  assert.match(eventKey(id + "a"), /^sha256:[0-9a-f]{64}$/);
});

Deno.test("eventKey() keeps distinct ids distinct", () => {
  const long = "a".repeat(2_100);
  const ids = [
    long,
    long + "b",
    eventKey(long),
    "\ud800",
    "\ud801",
    "\ufffd",
    "a",
    "😀".repeat(900),
  ];
  assert.equal(new Set(ids.map(eventKey)).size, ids.length);
});
