import type { Clock, Log, LogLevel, Observe, RelayEvent } from "../ports.ts";

const RANK: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40 };
const FLUSH_MS = 50;
const FLUSH_CHARS = 65_536;

/** Where finished lines go; the process's standard output, or a test's list. */
export type WriteLines = (text: string) => void;

/** A log whose lines are collected for a moment: one write a line would cost more than the line. */
export interface BufferedLog {
  log: Log;
  /** Writes what is collected. Call before the process ends. */
  flush: () => void;
}

/**
 * Makes the log: one line an event, JSON for machines, or plain text for a terminal. Text
 * from outside never ends a line or steers a terminal: JSON escapes it in both forms.
 */
export function createLog(
  level: LogLevel,
  format: "json" | "text",
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
      ? `${JSON.stringify({ time, level: lineLevel, event, ...fields })}\n`
      : `${textLine(time, lineLevel, event, fields)}\n`;
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

function textLine(
  time: string,
  level: LogLevel,
  event: string,
  fields: Record<string, unknown>,
): string {
  const shown = Object.entries(fields).filter(([, value]) => value !== undefined);
  const pairs = shown.map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [time.slice(11, 23), level.padEnd(5), event, ...pairs].join(" ").replace(CONTROL, escaped);
}

/** JSON leaves DEL and the C1 controls as they are; terminals obey some of them. */
const CONTROL = /[\u007f-\u009f]/g;
const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

const LANE_LEVEL: Partial<Record<string, LogLevel>> = {
  opened: "warn",
  failing: "warn",
  disabled: "warn",
};

/** Writes what happens in the relay to its log, one wide line an accept and an attempt. */
export function logEvents(log: Log): Observe {
  return (event) => {
    const { type, atMs: _, ...fields } = event;
    log(levelOf(event), type, fields);
  };
}

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
