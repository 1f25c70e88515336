/**
 * What a terminal may obey or a reader may be fooled by: C0 and C1 controls, DEL, line
 * separators, and the marks that turn the direction of writing (UAX #9).
 */
// deno-lint-ignore no-control-regex
const STEERING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** The same, but for what makes a text of several lines. */
const STEERING_LINES = new RegExp(`(?![\\n\\t])${STEERING.source}`, "g");

const shown = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Text from outside on one line: what could steer a terminal is shown as `\u001b`. */
export function safe(text: string): string {
  return text.replace(STEERING, shown);
}

/** Text from outside with its line ends and tabs. */
export function safeLines(text: string): string {
  return text.replace(STEERING_LINES, shown);
}

/** Text of at most so many characters; a cut one ends in `…`. */
export function clipped(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

/** Select Graphic Rendition codes (ECMA-48 §8.3.117). */
const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Colour = keyof typeof CODES;

/** Paints text, or leaves it alone. */
export type Paint = (colour: Colour, text: string) => string;

export const painted: Paint = (colour, text) => `\x1b[${CODES[colour]}m${text}\x1b[0m`;
export const plain: Paint = (_colour, text) => text;
