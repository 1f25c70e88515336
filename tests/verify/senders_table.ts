import type { Scheme, SignatureScheme } from "../../lib/signature_scheme.ts";
import type { IdSource } from "../../lib/verify/identity.ts";
import type { Preset } from "../../lib/verify/preset.ts";
import { PRESETS } from "../../lib/verify/presets.ts";
import { isTimed } from "../../lib/verify/restamp.ts";

/**
 * The table of docs/senders.md, made of the presets. Run this file with write permission to
 * bring the page up to date; senders_page_test.ts tells when that is due.
 */

export const PAGE = new URL("../../docs/senders.md", import.meta.url);
const BEGIN = "<!-- table: made by tests/verify/senders_table.ts -->";
const END = "<!-- end of table -->";

/** The page with its table made anew. */
export function withTable(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest.split(END);
  return `${before}${BEGIN}\n${sendersTable()}\n${END}${after}`;
}

function sendersTable(): string {
  const rows = PRESETS.toSorted((a, b) => a.title.localeCompare(b.title, "en")).map(row);
  return [
    "| sender | `provider` | where to enter it, and what `secret` is | what is verified | event id | handshake | answer | delayed delivery |",
    "|---|---|---|---|---|---|---|---|",
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
  ].join("\n");
}

function row(preset: Preset): string[] {
  const names = [preset.name, ...preset.aliases ?? []].map(code);
  return [
    preset.title,
    names.join(", "),
    [preset.setup, preset.note].filter((text) => text !== undefined).join(" "),
    preset.schemes.map(verified).join("; or ") || `nothing: ${preset.unverified}`,
    eventIds(preset),
    preset.handshakes?.map(({ name }) => name).join(", ") ?? "–",
    answer(preset),
    delayed(preset),
  ];
}

const code = (text: string) => `\`${text}\``;

const place = (source: string) =>
  source.startsWith("header:")
    ? code(source.slice("header:".length))
    : `${code(source.slice(source.indexOf(":") + 1))} in the ${source.split(":")[0]}`;

const ALGORITHM_NAMES: Record<string, string> = {
  "hmac-sha1": "HMAC-SHA1",
  "hmac-sha256": "HMAC-SHA256",
  "hmac-sha384": "HMAC-SHA384",
  "hmac-sha512": "HMAC-SHA512",
  ed25519: "Ed25519",
  "ecdsa-p256": "ECDSA P-256",
};

function verified(scheme: Scheme): string {
  if (scheme.type === "token") return `the secret in ${place(scheme.from[0])}`;
  if (scheme.type === "basic") return `user and password in ${code(scheme.header)}`;
  if (scheme.type === "jwt") {
    const body = scheme.bodyHashClaim === undefined ? "" : " with the body's hash";
    return `JWT (${scheme.algorithm})${body} in ${code(scheme.header)}`;
  }
  return `${ALGORITHM_NAMES[scheme.algorithm]} of ${content(scheme)}, in ${
    place(scheme.signature[0])
  }`;
}

function content(scheme: SignatureScheme): string {
  if (scheme.each !== undefined) return "each item's fields";
  return code(scheme.signedContent);
}

function eventIds(preset: Preset): string {
  const last = preset.fallback === "off"
    ? "none: every request is an event"
    : preset.fallback.eventType === undefined
    ? "hash of the body"
    : `hash of the body and ${code(preset.fallback.eventType)}`;
  return [...preset.id.map(idText), last].join("; else ");
}

function idText(source: IdSource): string {
  if (typeof source === "string") return place(source);
  const text = source.parts.map(place).join(" and ");
  return source.each === undefined ? text : `${text}, of all items`;
}

function answer({ acceptStatus, acceptBody = "json" }: Preset): string {
  if (acceptBody === "json") return String(acceptStatus);
  const body = acceptBody === "empty" ? "no body" : code(acceptBody.body);
  return `${acceptStatus}, ${body}`;
}

/** Whether a signature is still good after hours, and what to do where it is not. */
function delayed({ schemes }: Preset): string {
  const timed = schemes.find(isTimed);
  if (timed !== undefined) {
    const { toleranceMs } = timed.timestamp;
    return toleranceMs === undefined
      ? "`restamp`, if the backend looks at the time"
      : `\`restamp\`: good for ${toleranceMs / 1_000} s`;
  }
  const stamped = schemes.some((scheme) =>
    (scheme.type === "signature" && scheme.timestamp !== undefined) ||
    (scheme.type === "jwt" && scheme.issuedWithinMs !== undefined)
  );
  if (stamped) return "the time cannot be renewed: the backend must not look at it";
  return schemes.length === 0 ? "see the sender" : "good for ever";
}

if (import.meta.main) {
  await Deno.writeTextFile(PAGE, withTable(await Deno.readTextFile(PAGE)));
}
