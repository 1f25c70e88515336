import type { GitHubEvent } from "./events.ts";

/** What is known of one event so far. */
export interface Row {
  event: GitHubEvent;
  acceptedMs?: number;
  state: string;
  attempts: number;
  verified?: boolean;
}

const COLUMNS = [
  "event",
  "bytes",
  "answered",
  "attempts",
  "state",
  "verified at the backend",
] as const;
const WIDTHS = [18, 8, 10, 10, 12, 24];

/** The whole screen as text. */
export function screen(rows: readonly Row[], backend: string): string {
  const verified = rows.filter((row) => row.verified).length;
  return [
    `backend: ${backend}`,
    "",
    line(COLUMNS),
    line(WIDTHS.map((width) => "-".repeat(width - 2))),
    ...rows.map((row) => line(cells(row))),
    "",
    `${verified} of ${rows.length} verified`,
  ].join("\n");
}

function cells({ event, acceptedMs, state, attempts, verified }: Row): string[] {
  return [
    event.name,
    String(event.body.length),
    acceptedMs === undefined ? "" : `${acceptedMs.toFixed(0)} ms`,
    String(attempts),
    state,
    verified === undefined ? "" : verified ? "yes" : "NO",
  ];
}

function line(parts: readonly string[]): string {
  return parts.map((part, index) => part.padEnd(WIDTHS[index])).join("").trimEnd();
}

/** Shows screens: over each other in a terminal, one after another where lines are kept. */
export function createDisplay(write: (text: string) => void, isTerminal: boolean) {
  let last = "";
  return (text: string) => {
    if (text === last) return;
    const up = isTerminal && last !== "" ? `\x1b[${last.split("\n").length}A\x1b[J` : "";
    write(`${up}${text}\n${isTerminal ? "" : "\n"}`);
    last = text;
  };
}
