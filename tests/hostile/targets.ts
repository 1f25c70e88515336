import type { Dice } from "../sim/dice.ts";
import type { Surroundings } from "./shot.ts";

/** Endpoints of the relay under fire. Nothing may ever arrive at `smuggled`. */
const HOOKS = [
  ...["ok", "ok", "ok", "ok", "waits", "waits", "line", "line", "small"],
  ...["signed", "twilio", "meta", "slack"],
];

/** Segments and tails that routers, decoders and keys trip over. */
const SEGMENTS = [
  ...["", ".", "..", "...", "%2e%2e", "%2E%2e%2f", "..%5c", "..;x=1", "%00", "%0d%0a", "%", "%zz"],
  ...["%ff", "%c0%ae", "%u0041", "%25", "%2f", "a%20b", "a+b", ";", "a;b=c"],
  ...["\\", "{}", "|", "^", "`", '"', "<>", "'", "~", "!$&()*,;=:@", "__proto__", "constructor"],
  ...["favicon.ico", ".env", "wp-login.php", "hook", "api", "x".repeat(300), "#", "a#b", "?", "*"],
];
/** Bytes that no request line may hold. */
const FORBIDDEN = ["\x00", "\x01", " ", "\t", "\r", "\x7f", "\xe9", "\xff\xfe"];

const QUERIES = [
  ...["?", "?a=1", "?a=1&a=2", "?&&==", "?%00", "?%", "?%zz=%", "?[]=", "?limit=-1", "?limit=1e9"],
  ...["?cursor=%00", "?cursor=MTow", "?cursor=" + "A".repeat(200), "?since=0", "?until=9999-99-99"],
  ...[
    "?since=%2B275760-09-13",
    "?state=dead",
    "?state[]=dead",
    "?endpoint=__proto__",
    "?event_id=",
  ],
  ...[
    "?hub.mode=subscribe&hub.verify_token=x&hub.challenge=<script>",
    "?bodySHA256=00",
    "??",
    "?#",
  ],
  ...["?reason=rejected&reason=expired", "?return=//evil", "?return=%5C%5Cevil", "?to=", "?token="],
];

const OPERATOR = [
  ...["/api/v1/status", "/api/v1/endpoints", "/api/v1/endpoints/ok", "/api/v1/deliveries"],
  ...["/api/v1/deliveries/ID", "/api/v1/deliveries/ID/payload", "/api/v1/replays", "/api/v1"],
  ...["/api/v1/replays/ID", "/api/v1/dead-letters/ok", "/dead-letters/ok", "/dead-letters"],
  ...["/api/v1/events", "/api/v1/github", "/metrics", "/openapi.json", "/docs", "/api"],
];
const PAGES = [
  ...["/admin", "/admin/", "/admin/deliveries", "/admin/deliveries/ok/ID", "/admin/endpoints"],
  ...["/admin/dead-letters", "/admin/replays", "/admin/endpoints/ok", "/admin/sign-in", "/adminx"],
  ...["/admin/oauth/start", "/admin/oauth/callback", "/admin/static/admin.js", "/admin/github"],
  ...["/admin/static/..%2f..%2fmain.ts", "/admin/static/../../deno.json", "/admin/deliveries/ID"],
];
const OPEN = ["/", "/healthz", "/readyz", "/hook", "/hook/", "/hook//ok", "/HOOK/ok", "//hook/ok"];

/** A request target, and how its path and query go on behind the endpoint. */
export interface Target {
  text: string;
  surface: "hook" | "relay" | "operator" | "page" | "open";
  isWhole: boolean;
}

export function target(dice: Dice, around: Surroundings): Target {
  const die = dice.next();
  const made = die < 0.65
    ? hook(dice)
    : die < 0.72
    ? relay(dice, around)
    : die < 0.83
    ? below(dice, "operator", OPERATOR, around)
    : die < 0.94
    ? below(dice, "page", PAGES, around)
    : below(dice, "open", OPEN, around);
  return disguised(dice, around, made);
}

function hook(dice: Dice): Target {
  const id = dice.chance(0.97) ? dice.pick(HOOKS) : dice.pick(SEGMENTS);
  return spoiled(dice, `/hook/${id}${tail(dice)}`, "hook");
}

function relay(dice: Dice, { sinkUrl }: Surroundings): Target {
  const to = dice.pick([
    ...[sinkUrl, sinkUrl, sinkUrl, `${sinkUrl}?q=1`, `${sinkUrl}/../x`, `${sinkUrl}#f`],
    ...[
      "http://127.0.0.1:1/",
      "file:///etc/passwd",
      "http://[::ffff:127.0.0.1]/",
      "//x",
      "javascript:",
    ],
    ...["http://user:pw@127.0.0.1/", "http://127.1/", "http://0x7f000001/", "http://[", "\u0000"],
  ]);
  const value = dice.chance(0.8) ? encodeURIComponent(to) : dice.pick(["%", "%zz", "%ff", to]);
  const twice = dice.chance(0.1) ? `&to=${value}` : "";
  return spoiled(dice, `/?to=${value}${twice}`.replaceAll("\u0000", "%00"), "relay");
}

function below(
  dice: Dice,
  surface: Target["surface"],
  paths: readonly string[],
  { deliveryId }: Surroundings,
): Target {
  const path = dice.pick(paths).replace("ID", dice.chance(0.7) ? deliveryId : "01");
  return spoiled(dice, path + (dice.chance(0.4) ? tail(dice) : ""), surface);
}

function tail(dice: Dice): string {
  let rest = "";
  while (dice.chance(0.25)) rest += `/${dice.pick(SEGMENTS)}`;
  if (dice.chance(0.01)) rest += "/" + "l".repeat(dice.int(1, 70_000));
  if (dice.chance(0.3)) rest += dice.pick(QUERIES);
  return rest;
}

function spoiled(dice: Dice, text: string, surface: Target["surface"]): Target {
  if (!dice.chance(0.02)) return { text, surface, isWhole: text.length < 60_000 };
  const at = dice.int(1, text.length);
  const forbidden = dice.pick(FORBIDDEN);
  return { text: text.slice(0, at) + forbidden + text.slice(at), surface, isWhole: false };
}

/** Absolute, authority and asterisk forms (RFC 9112 §3.2), good and bad ones. */
function disguised(dice: Dice, { host }: Surroundings, made: Target): Target {
  if (dice.chance(0.96)) return made;
  const { surface } = made;
  const origins = [`http://${host}`, "http://other.example:99", "https://x", "HTTP://x", "ws://x"];
  const odd = [
    "http://[::",
    "http://a:99999",
    "http://%",
    "http:///",
    "ftp://x",
    "x:",
    "http://u:p@h",
  ];
  const text = dice.chance(0.2)
    ? dice.pick(["*", "host.example:443", ":", "http:", "", "ok", "?to=x", "#", "..", "\\hook\\ok"])
    : dice.pick(dice.chance(0.5) ? origins : odd) + made.text;
  return { text, surface, isWhole: false };
}
