/**
 * Keys as text that sorts like Deno KV sorts keys: part by part, texts before numbers
 * (https://docs.deno.com/deploy/kv/key_space/). One character stands for one byte, so its
 * length is the size that KV's limits speak of.
 */
export function encodeKey(key: Deno.KvKey): string {
  return key.map(encodePart).join("");
}

const TEXT = "\x02", NUMBER = "\x21", END = "\x00";

function encodePart(part: Deno.KvKeyPart): string {
  if (typeof part === "string") {
    return TEXT + utf8(part).replaceAll(END, `${END}\xff`) + END;
  }
  if (typeof part === "number") return NUMBER + encodeNumber(part);
  throw new Error(`cannot simulate a key part of type ${typeof part}`);
}

function utf8(text: string): string {
  // deno-lint-ignore no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return String.fromCharCode(...new TextEncoder().encode(text));
}

/** IEEE 754, big end first; the sign is turned over so that byte order is number order. */
function encodeNumber(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const negative = view.getUint8(0) >= 0x80;
  let text = "";
  for (let at = 0; at < 8; at++) {
    const byte = view.getUint8(at);
    text += String.fromCharCode(negative ? byte ^ 0xff : at === 0 ? byte ^ 0x80 : byte);
  }
  return text;
}
