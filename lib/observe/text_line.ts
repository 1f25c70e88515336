import type { LogLevel } from "../ports.ts";
import { jsonText } from "./json_text.ts";

/** One line of the log before it is written. */
export interface LogLine {
  time: string;
  level: LogLevel;
  event: string;
  fields: Record<string, unknown>;
}

/** Select Graphic Rendition codes (ECMA-48 §8.3.117). */
const DIM = 2;
const COLOUR: Record<LogLevel, number> = { debug: DIM, info: 36, warn: 33, error: 31 };
const EVENT_WIDTH = 11;

/**
 * A line for a person: time of day, what happened and where, then the rest. Text from
 * outside stands in JSON's quotes where it is more than a plain word, so it neither ends
 * the line nor steers the terminal.
 */
export function textLine({ time, level, event, fields }: LogLine, colour: boolean): string {
  const { endpoint, ...rest } = fields;
  const paint = (code: number, text: string) => colour ? `\x1b[${code}m${text}\x1b[0m` : text;
  const pairs = Object.entries(rest).filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${paint(DIM, `${name}=`)}${fieldText(name, value)}`);
  return [
    paint(DIM, time.slice(11, 23)),
    paint(COLOUR[level], event.padEnd(EVENT_WIDTH)),
    ...endpoint === undefined ? [] : [plain(endpoint)],
    ...pairs,
  ].join(" ");
}

function fieldText(name: string, value: unknown): string {
  return name.endsWith("AtMs") && typeof value === "number"
    ? new Date(value).toISOString().slice(11, 19)
    : plain(value);
}

/** A word that says nothing to a terminal or a reader of fields. */
const WORD = /^[\w.:/@+-]+$/;

function plain(value: unknown): string {
  return typeof value === "string" && WORD.test(value) ? value : jsonText(value);
}
