import { ADMIN_TOKEN } from "../helpers/program.ts";
import type { Dice } from "../sim/dice.ts";
import type { Surroundings } from "./shot.ts";
import type { Target } from "./targets.ts";

/** Names that somebody on the way looks at. */
const NAMES = [
  ...["x-request-id", "idempotency-key", "webhook-id", "x-event-id", "x-github-event", "cookie"],
  ...[
    "x-hub-signature-256",
    "x-twilio-signature",
    "x-slack-signature",
    "x-slack-request-timestamp",
  ],
  ...[
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "forwarded",
    "via",
    "te",
    "range",
  ],
  ...["traceparent", "tracestate", "content-type", "content-encoding", "accept", "authorization"],
  ...["origin", "referer", "sec-fetch-site", "x-csrf-token", "last-event-id", "if-none-match"],
  ...["connection", "keep-alive", "proxy-authorization", "x-forward-to", "holdfast-attempt"],
  ...["__proto__", "constructor", "hasOwnProperty", "!#$%&'*+-.^_`|~", "X-\x4f\x64d", "x"],
];
const VALUES = [
  ...["", " ", "a", "\t", "a,b", "a, ,b", '"quoted"', '"open', "\xe9\xff", "\xc3\xa9", "\x80", "*"],
  ...["null", "-1", "0", "1e309", "99999999999999999999", "bytes=0-", 'W/"x"', "sha256=", "v1,"],
  ...["t=1,v1=00", "t=,v1=", "sha256=zz", "Bearer", "Bearer ", "Basic Og==", "00-0-0-00", "gzip"],
  ...["close, x-request-id", "text/html", "application/json", "multipart/form-data", "trailers"],
  ...[
    "multipart/form-data; boundary=",
    "application/x-www-form-urlencoded",
    "{}",
    "%00",
    "=?utf-8?",
  ],
  ...["AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "sha256=" + "0".repeat(64), "v0=" + "0".repeat(64), "*/*"],
  ...["holdfast-session=" + "A".repeat(43), "http://127.0.0.1/", "null", "same-origin", "1:2:3"],
];
/** Lines that are no header (RFC 9112 §5, RFC 9110 §5.5): each makes the request a bad one. */
const BAD_LINES = [
  ...["x: a\r\n folded", " leading: a", "x : a", ": a", "no colon", "x\x00: a", "x: a\x00b"],
  ...["x: a\x01b", "x: a\rb", "x\xe9: a", "x(y): a", "x: \x7f", "\x00", "x\t: a"],
];
const HOSTS = [
  ...[
    "",
    "h",
    "h:",
    "h:0",
    "h:99999",
    "[::1]:80",
    "[::::]",
    "[v1.x]",
    "999.999.999.999",
    "%",
    "a%zz",
  ],
  ...["h/evil?", "h@evil", "h evil", "h#f", "h\\x", "\xe9", "a,b", "..", "h:80:80", "xn--", "*"],
];

/** The lines of a head but for those that frame the body. */
export interface Lines {
  lines: string[];
  isWhole: boolean;
}

export function headerLines(dice: Dice, around: Surroundings, { surface }: Target): Lines {
  const host = dice.chance(0.95) ? around.host : dice.pick(HOSTS);
  const lines = dice.chance(0.985) ? [`Host: ${host}`] : dice.pick([[], ["Host: h", "Host: g"]]);
  const count = dice.chance(0.005) ? dice.int(90, 200) : dice.int(0, 6);
  for (let n = 0; n < count; n++) lines.push(line(dice));
  if (dice.chance(0.01)) lines.push(`x-long: ${"v".repeat(dice.int(1_000, 70_000))}`);
  if (surface === "operator" && dice.chance(0.6)) {
    lines.push(`Authorization: Bearer ${ADMIN_TOKEN}`);
  }
  if (surface === "page" && dice.chance(0.6)) lines.push(`Cookie: ${around.cookie}`);
  if (surface === "page" && dice.chance(0.5)) lines.push("Accept: text/html");
  const isWhole = host === around.host && count < 90 && lines.join("").length < 50_000;
  if (!dice.chance(0.03)) return { lines, isWhole };
  lines.splice(dice.int(0, lines.length), 0, dice.pick(BAD_LINES));
  return { lines, isWhole: false };
}

function line(dice: Dice): string {
  const name = dice.pick(NAMES);
  const value = dice.chance(0.8) ? dice.pick(VALUES) : noise(dice);
  return `${name}:${dice.pick(["", " ", "\t "])}${value}`;
}

/** Any text that a field value may hold. */
function noise(dice: Dice): string {
  let text = "";
  for (let n = dice.int(0, 60); n > 0; n--) {
    const code = dice.chance(0.8) ? dice.int(0x20, 0x7e) : dice.int(0x80, 0xff);
    text += String.fromCharCode(code);
  }
  return text;
}
