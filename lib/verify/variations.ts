import { Buffer } from "node:buffer";
import { KEY_FORMS, type Scheme } from "../signature_scheme.ts";
import { utf8, utf8Text } from "./bytes.ts";
import { PRESETS } from "./presets.ts";

/** What is verified: a request, the schemes that may have signed it, and the secret. */
export interface Attempted {
  schemes: readonly Scheme[];
  secrets: readonly string[];
  url: string;
  body: Uint8Array;
}

/** One thing that commonly goes wrong, undone: if it verifies now, that was the cause. */
export interface Variation {
  cause: string;
  change: Partial<Attempted>;
}

/** All variations of one part each, the likeliest first. */
export function variationsOf(given: Attempted): Variation[] {
  return [
    ...bodies(given.body),
    ...secretTexts(given.secrets),
    ...keyForms(given.schemes),
    ...addresses(given.url),
    ...otherSenders(),
  ];
}

function bodies(body: Uint8Array): Variation[] {
  const text = utf8Text(body);
  if (text === undefined) return [];
  const variants: [signed: string, text: string | undefined][] = [
    ["without the line break at its end", text.replace(/\r?\n$/, "")],
    ["with a line break at its end", `${text}\n`],
    ["with CR LF at its end", `${text}\r\n`],
    ["with CR LF as line breaks", text.replace(/\r?\n/g, "\r\n")],
    ["with LF as line breaks", text.replaceAll("\r\n", "\n")],
    ["without its byte order mark", text.replace(/^\ufeff/, "")],
    ["with non-ASCII text as \\u escapes", escaped(text)],
    ["without \\u escapes, its text written out", unescaped(text)],
    ["without spaces, as JSON is written by most libraries", rewritten(text)],
    ["with other JSON spacing (indented by two)", rewritten(text, "  ")],
    ["with other JSON spacing (a space after colons and commas)", spaced(text)],
    ["with slashes escaped as \\/", text.replaceAll(/(?<!\\)\//g, "\\/")],
  ];
  return variants.filter(([, variant]) => variant !== undefined && variant !== text)
    .map(([signed, variant]) => ({
      cause: `the body was altered: what was signed is the body ${signed}`,
      change: { body: utf8(variant as string) },
    }));
}

function rewritten(text: string, indent?: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, indent);
  } catch {
    return undefined;
  }
}

/** Python's `json.dumps`. */
function spaced(text: string): string | undefined {
  return rewritten(text, " ")?.replace(/\n */g, " ").replace(/([[{]) /g, "$1")
    .replace(/ ([\]}])/g, "$1");
}

const escaped = (text: string) =>
  text.replace(
    /[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const unescaped = (text: string) =>
  text.replace(/(?<!\\)\\u([0-9a-f]{4})/gi, (_, code) => String.fromCharCode(parseInt(code, 16)));

function secretTexts(secrets: readonly string[]): Variation[] {
  const variants: [cause: string, change: (secret: string) => string][] = [
    ["has white space around it", (secret) => secret.trim()],
    ["lacks the line break that the sender's copy ends in", (secret) => `${secret}\n`],
    ["lacks its prefix whsec_", (secret) => `whsec_${secret}`],
    ["must be given without its prefix", (secret) => secret.replace(/^[a-z]+_/, "")],
    ["is given in base64, the sender uses what that stands for", fromBase64],
  ];
  return variants.map(([cause, change]) => ({
    cause: `the secret ${cause}`,
    change: { secrets: secrets.map(change) },
  }));
}

const fromBase64 = (secret: string) =>
  /^[A-Za-z0-9+/]+={0,2}$/.test(secret) && secret.length % 4 === 0
    ? Buffer.from(secret, "base64").toString("utf8")
    : secret;

/** The sender makes key bytes of the secret in another way than the preset says. */
function keyForms(schemes: readonly Scheme[]): Variation[] {
  return KEY_FORMS.map((key) => ({
    cause: `the secret is used as ${key}, not as this sender's secrets are`,
    change: {
      schemes: schemes.map((scheme) => scheme.type === "signature" ? { ...scheme, key } : scheme),
    },
  }));
}

function addresses(url: string): Variation[] {
  const [base, ...query] = url.split("?");
  const variants = [
    url.replace(/^https:/, "http:"),
    url.replace(/^http:/, "https:"),
    base.endsWith("/") ? [base.slice(0, -1), ...query].join("?") : [`${base}/`, ...query].join("?"),
    base,
  ];
  return variants.filter((variant) => variant !== url).map((variant) => ({
    cause: `the address that was signed is ${variant}`,
    change: { url: variant },
  }));
}

function otherSenders(): Variation[] {
  return PRESETS.filter((preset) => preset.schemes.length > 0).map((preset) => ({
    cause: `it verifies as provider ${preset.name}`,
    change: { schemes: preset.schemes },
  }));
}
