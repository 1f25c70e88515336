import type { Clock, Log, LogLevel, Observe, RelayEvent } from "../ports.ts";
import { jsonText } from "./json_text.ts";
import { textLine } from "./text_line.ts";

const RANK: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40 };
const FLUSH_MS = 50;
const FLUSH_CHARS = 65_536;

/** JSON for machines; text, with or without colours, for a terminal. */
export type LogFormat = "json" | "text" | "colour";

/** Where finished lines go; the process's standard output, or a test's list. */
export type WriteLines = (text: string) => void;

/** A log whose lines are collected for a moment: one write a line would cost more than the line. */
export interface BufferedLog {
  log: Log;
  /** Writes what is collected. Call before the process ends. */
  flush: () => void;
}

/**
 * Makes the log: one line an event, JSON for machines, or text for a terminal. What came from
 * outside never ends a line or steers a terminal: it is escaped in both forms.
 */
export function createLog(
  level: LogLevel,
  format: LogFormat,
  clock: Clock,
  write: WriteLines,
): BufferedLog {
  let pending = "";
  let scheduled = false;
  const flush = () => {
    if (pending !== "") write(pending);
    pending = "";
  };
  const log: Log = (lineLevel, event, fields = {}) => {
    if (RANK[lineLevel] < RANK[level]) return;
    const time = new Date(clock.nowMs()).toISOString();
    pending += format === "json"
      ? `${jsonText({ time, level: lineLevel, event, ...fields })}\n`
      : `${textLine({ time, level: lineLevel, event, fields }, format === "colour")}\n`;
    if (lineLevel === "error" || pending.length > FLUSH_CHARS) return flush();
    if (scheduled) return;
    scheduled = true;
    clock.after(FLUSH_MS, () => {
      scheduled = false;
      flush();
    });
  };
  return { log, flush };
}

const LANE_LEVEL: Partial<Record<string, LogLevel>> = {
  opened: "warn",
  failing: "warn",
  disabled: "warn",
};

/** Writes what happens in the relay to its log, one wide line an accept and an attempt. */
export function logEvents(log: Log): Observe {
  return (event) => {
    const { type, atMs: _, ...fields } = event;
    log(levelOf(event), type, "ms" in fields ? { ...fields, ms: tenths(fields.ms) } : fields);
  };
}

/** Nobody needs a duration finer than that. */
const tenths = (ms: number) => Math.round(ms * 10) / 10;

function levelOf(event: RelayEvent): LogLevel {
  switch (event.type) {
    case "store_error":
      return "error";
    case "settled":
      return event.state === "dead" ? "warn" : "debug";
    case "lane":
      return LANE_LEVEL[event.change] ?? "info";
    default:
      return "info";
  }
}
