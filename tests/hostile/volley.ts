import { concat, latin1, sha256 } from "../helpers/bytes.ts";
import { Dice } from "../sim/dice.ts";
import { framing } from "./framings.ts";
import { headerLines } from "./lines.ts";
import type { Shot, Surroundings, Volley } from "./shot.ts";
import { type Target, target } from "./targets.ts";

const WRITES = ["POST", "POST", "POST", "POST", "POST", "POST", "POST", "PUT", "PATCH", "DELETE"];
const READS = ["GET", "GET", "GET", "HEAD", "OPTIONS", "DELETE", "POST"];
const ODD_METHODS = ["TRACE", "CONNECT", "post", "PROPFIND", "M-SEARCH", "X".repeat(300), "PRI"];
const BAD_METHODS = ["", "G T", "G@T", "\x00", "GET\t", "P\xd6ST", "\r\n\r\nPOST", "{}"];
const VERSIONS = [
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.0",
  "HTTP/1.2",
  "HTTP/2.0",
  "HTTP/0.9",
];
const BAD_VERSIONS = ["HTTP/9.9", "HTTP/1", "http/1.1", "HTTP/1.1.1", "HTTP/a.b", "HTTQ/1.1", ""];

/** What is no HTTP/1 at all. */
const NOISE = [
  ...["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "\x00"],
  ...[
    "GET /hook/ok\r\n",
    "\r\n\r\n\r\n",
    "\x04\x01\x00\x50\x7f\x00\x00\x01\x00",
    "EHLO x\r\n",
    "{",
  ],
  ...[
    "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n",
    "\xff".repeat(5_000),
    "SSH-2.0-x\r\n",
    "\n".repeat(99),
  ],
];

/** Makes what is sent on one connection; the same for the same seed and number. */
export function volley(seed: number, number: number, around: Surroundings): Volley {
  const dice = new Dice(seed * 1_000_003 + number);
  const shots: Shot[] = [];
  do shots.push(shot(dice, around)); while (shots.at(-1)!.isWhole && dice.chance(0.82));
  const bytes = concat(shots.map((one) => one.bytes));
  const die = dice.next();
  if (die > 0.06) {
    const end = shots.at(-1)!.isWhole && die < 0.9 ? "wait" : "half-close";
    return { shots, pieces: pieces(dice, bytes), end };
  }
  // Cut anywhere: what was not sent whole is not to be accepted.
  const cut = bytes.slice(0, dice.int(0, bytes.length));
  return { shots: upTo(shots, cut.length), pieces: pieces(dice, cut), end: dice.pick(ENDS) };
}

const ENDS = ["half-close", "hang-up"] as const;

function upTo(shots: readonly Shot[], sentBytes: number): Shot[] {
  let at = 0;
  return shots.map((one) => {
    at += one.bytes.length;
    return at <= sentBytes ? one : { ...one, isWhole: false, sha256: undefined };
  });
}

function shot(dice: Dice, around: Surroundings): Shot {
  if (dice.chance(0.01)) return { ...NO_SHOT, bytes: latin1(dice.pick(NOISE)) };
  const to = target(dice, around);
  const { method, version, isWhole } = firstLine(dice, to);
  const head = headerLines(dice, around, to);
  const body = isBodiless(method) ? NO_BODY : framing(dice);
  const lines = dice.chance(0.5) ? [...head.lines, ...body.lines] : [...body.lines, ...head.lines];
  const name = [method, to.text, version].filter((part) => part !== "").join(" ");
  const text = [name, ...lines, "", ""].join("\r\n");
  return {
    bytes: concat([latin1(text), body.bytes]),
    method,
    sha256: body.sha256,
    isWhole: isWhole && to.isWhole && head.isWhole && body.isWhole,
    name: name.slice(0, 120),
  };
}

const NO_SHOT = { method: "", isWhole: false, name: "noise" };
const NO_BODY = { lines: [], bytes: new Uint8Array(), sha256: sha256(""), isWhole: true };

const isBodiless = (method: string) => ["GET", "HEAD", "OPTIONS", "TRACE"].includes(method);

function firstLine(dice: Dice, { surface }: Target) {
  const die = dice.next();
  const isWrite = (surface === "hook" || surface === "relay") && dice.chance(0.9);
  const usual = isWrite ? WRITES : READS;
  const method = dice.pick(die < 0.95 ? usual : die < 0.98 ? ODD_METHODS : BAD_METHODS);
  const version = die > 0.04 ? "HTTP/1.1" : dice.pick(die > 0.01 ? VERSIONS : BAD_VERSIONS);
  return { method, version, isWhole: die >= 0.04 && die < 0.95 };
}

/** Cuts the bytes into a few writes. */
function pieces(dice: Dice, bytes: Uint8Array): Uint8Array[] {
  const cuts = dice.chance(0.5) ? [] : Array.from({ length: 3 }, () => dice.int(0, bytes.length));
  const borders = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
  return borders.slice(1).map((end, index) => bytes.slice(borders[index], end));
}
