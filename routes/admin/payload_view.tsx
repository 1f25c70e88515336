import { visible } from "../../islands/format.tsx";
import { pretty } from "./pretty.ts";

/** Bytes of a binary body that are shown. */
const HEX_BYTES = 2_048;
const HEX_ROW = 16;

/** The beginning of a body, as text where it is text, else as bytes; never as a page. */
export function PayloadView({ start, bytes }: { start: Uint8Array; bytes: number }) {
  if (bytes === 0) return <p class="empty">The body is empty.</p>;
  const whole = start.length === bytes;
  const text = textOf(start, whole);
  const shown = text === undefined ? hexDump(start.subarray(0, HEX_BYTES)) : textShown(text, whole);
  const cut = text === undefined ? Math.min(start.length, HEX_BYTES) : start.length;
  return (
    <>
      <pre class="payload" tabIndex={0} role="region" aria-label="Payload">{shown}</pre>
      {cut < bytes && (
        <p class="note">The first {cut} of {bytes} bytes; download it for the rest.</p>
      )}
    </>
  );
}

/** UTF-8 text, or `undefined` for anything else. A cut may fall inside a character. */
function textOf(start: Uint8Array, whole: boolean): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(start, { stream: !whole });
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

const textShown = (text: string, whole: boolean) => visible(whole ? pretty(text) ?? text : text);

/** Offset, bytes and printable characters, sixteen a row. */
export function hexDump(bytes: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += HEX_ROW) {
    const row = [...bytes.subarray(at, at + HEX_ROW)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = row.map((byte) => byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".");
    rows.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(3 * HEX_ROW)} ${text.join("")}`);
  }
  return rows.join("\n");
}
