import { shown } from "./numbers.ts";

/** A figure held against what it should reach. It is told, and never fails anything. */
export interface Verdict {
  what: string;
  value: number;
  bound: "≥" | "≤";
  target: number;
  unit?: string;
}

/** What one scenario found. */
export interface Report {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
  verdicts: readonly Verdict[];
  notes?: readonly string[];
}

/** A report as Markdown. */
export function rendered({ title, columns, rows, verdicts, notes = [] }: Report): string {
  const parts = [
    `## ${title}`,
    ...(rows.length > 0 ? [table(columns, rows)] : []),
    ...(verdicts.length > 0 ? [verdictTable(verdicts)] : []),
    ...notes,
  ];
  return parts.join("\n\n") + "\n";
}

/** All verdicts of a run in one table. */
export function summary(reports: readonly Report[]): string {
  return `## Against the targets\n\n${verdictTable(reports.flatMap((one) => one.verdicts))}\n`;
}

function verdictTable(verdicts: readonly Verdict[]): string {
  return table(["figure", "measured", "target", ""], verdicts.map(verdictRow));
}

function verdictRow({ what, value, bound, target, unit = "" }: Verdict): string[] {
  const reached = bound === "≥" ? value >= target : value <= target;
  const suffix = unit === "" ? "" : ` ${unit}`;
  return [
    what,
    shown(value) + suffix,
    `${bound} ${shown(target)}${suffix}`,
    reached ? "reached" : "missed",
  ];
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((name, at) =>
    Math.max(3, name.length, ...rows.map((row) => row[at].length))
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at])).join(" | ")} |`;
  return [line(columns), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`]
    .concat(rows.map(line)).join("\n");
}
