import { concat, latin1, sha256 } from "../helpers/bytes.ts";
import type { Dice } from "../sim/dice.ts";

/** A body as it goes out: the head lines that frame it, its bytes, and what they say. */
export interface Framing {
  lines: string[];
  bytes: Uint8Array;
  /** Hash of the body a correct reader sees; absent where it must refuse or wait. */
  sha256?: string;
  /** Whole and well formed: the next request may follow on the connection. */
  isWhole: boolean;
}

/** A request that only a reader with another idea of the framing would see. */
const SMUGGLED = "POST /hook/smuggled HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi";

const CRLF = latin1("\r\n");

/** Random bytes; most bodies are small, a few are staged in chunks. */
function body(dice: Dice): Uint8Array {
  const die = dice.next();
  const most = die < 0.85 ? 300 : die < 0.985 ? 8_000 : die < 0.998 ? 90_000 : 900_000;
  const bytes = new Uint8Array(dice.int(0, most));
  for (let at = 0; at < bytes.length; at++) bytes[at] = dice.int(0, 255);
  return bytes;
}

export function framing(dice: Dice): Framing {
  const content = body(dice);
  const die = dice.next();
  if (die < 0.6) return length(content, `Content-Length: ${content.length}`);
  if (die < 0.82) return chunked(dice, content);
  if (die < 0.86) return { ...length(new Uint8Array(), ""), lines: [] };
  return dice.pick(CROOKED)(dice, content);
}

const length = (content: Uint8Array, ...lines: string[]): Framing => ({
  lines,
  bytes: content,
  sha256: sha256(content),
  isWhole: true,
});

const CODINGS = ["chunked", "Chunked", "CHUNKED", " chunked\t"];

function chunked(dice: Dice, content: Uint8Array): Framing {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < content.length;) {
    const size = Math.min(content.length - at, dice.int(1, Math.max(1, content.length >> 1)));
    parts.push(latin1(sizeLine(dice, size)), content.slice(at, at + size), CRLF);
    at += size;
  }
  const trailers = dice.chance(0.2) ? "X-Trail: t\r\nContent-Length: 3\r\n" : "";
  parts.push(latin1(`${dice.pick(["0", "00", "0;x"])}\r\n${trailers}\r\n`));
  return { ...length(content, `Transfer-Encoding: ${dice.pick(CODINGS)}`), bytes: concat(parts) };
}

function sizeLine(dice: Dice, size: number): string {
  const hex = size.toString(16);
  const extension = dice.chance(0.1) ? dice.pick([";a=b", ";a", ';a="b;c"', " ;x=y"]) : "";
  return dice.pick([hex, hex.toUpperCase(), `00${hex}`]) + extension + "\r\n";
}

type Crooked = (dice: Dice, content: Uint8Array) => Framing;

const refused = (lines: string[], bytes: Uint8Array): Framing => ({ lines, bytes, isWhole: false });

/** `Content-Length: VALUE` for a body of another length, or none at all. */
const claimed = (value: (length: number) => string): Crooked => (_dice, content) =>
  refused(value(content.length).split("\n").map((text) => `Content-Length: ${text}`), content);

/** A chunked body whose coding, or whose other framing, makes it unreadable or two-faced. */
const coded = (...lines: string[]): Crooked => () =>
  refused(lines, latin1(`3\r\nabc\r\n0\r\n\r\n${SMUGGLED}`));

/** A chunked body with something wrong in it. */
const broken = (text: string): Crooked => () =>
  refused(["Transfer-Encoding: chunked"], latin1(text));

/** A length whose writing is odd but plain. */
const odd = (value: (length: number) => string): Crooked => (_dice, content) =>
  length(content, ...value(content.length).split("\n").map((text) => `Content-Length: ${text}`));

const CROOKED: readonly Crooked[] = [
  odd((n) => `00${n}`),
  odd((n) => `\t${n} `),
  odd((n) => `${n}\r\nExpect: 100-continue`),
  odd((n) => `${n}\r\nExpect: 200-maybe`),
  claimed((n) => `${n + 1}`),
  claimed((n) => `${n + 1_000_000}`),
  claimed((n) => `-${n}`),
  claimed((n) => `+${n}`),
  claimed((n) => `0x${n.toString(16)}`),
  claimed(() => ""),
  claimed((n) => `${n}.0`),
  claimed((n) => `${n}, ${n}`),
  claimed((n) => `${n}\n${n + 1}`),
  claimed((n) => `${n}\n${n}`),
  claimed((n) => `${n} ${n}`),
  claimed(() => "99999999999999999999999"),
  claimed(() => "9223372036854775808"),
  claimed(() => "18446744073709551616"),
  coded("Transfer-Encoding: chunked", "Content-Length: 4"),
  coded("Content-Length: 30", "Transfer-Encoding: chunked"),
  coded("Transfer-Encoding: xchunked"),
  coded("Transfer-Encoding: chunked, identity"),
  coded("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
  coded("Transfer-Encoding: identity"),
  coded("Transfer-Encoding:"),
  coded("Transfer-Encoding : chunked"),
  coded("Transfer-Encoding: chunked\x0b"),
  coded("Transfer-Encoding:\r\n chunked"),
  coded("X: y\rTransfer-Encoding: chunked"),
  coded("Transfer-Encoding: \xffchunked"),
  // Framed as every reader would, and refused all the same: what follows is the next request.
  () => refused(["Transfer-Encoding: gzip, chunked"], latin1("3\r\nabc\r\n0\r\n\r\n")),
  ...["z\r\nabc", "-3\r\nabc", "0x3\r\nabc", "\r\nabc", "3 3\r\nabc"].map(broken),
  ...["fffffffffffffffff\r\nabc", "10000000000000003\r\nabc", "3\r\nabcd\r\n0\r\n\r\n"].map(broken),
  ...["3\nabc\n0\n\n", "3\rabc\r0\r\r", "3\r\nabc\r\n", "3\r\nabc", "3", ""].map(broken),
  broken(`3;${"x".repeat(20_000)}\r\nabc\r\n0\r\n\r\n`),
  broken(`3\r\nabc\r\n0\r\nX: ${"t".repeat(100_000)}\r\n\r\n`),
  broken("1\r\na\r\n".repeat(3_000)),
];
