/**
 * What JSON leaves as it is and terminals or log viewers obey: DEL and the C1 controls, line
 * separators, and the marks that turn the direction of writing (UAX #9).
 */
const STEERING = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** JSON on one line that steers no terminal, whatever text from outside it holds. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(STEERING, escaped);
}
