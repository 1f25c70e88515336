import type { Colour, Paint } from "./text.ts";

/** One cell: text that is safe to show, and its colour where it has one. */
export type Cell = string | { text: string; colour: Colour };

const textOf = (cell: Cell) => typeof cell === "string" ? cell : cell.text;

/** Rows under a heading, columns aligned; lines of a table without rows are none. */
export function table(head: readonly string[], rows: readonly Cell[][], paint: Paint): string {
  if (rows.length === 0) return "";
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => textOf(row[column]).length))
  );
  const line = (cells: readonly Cell[]) =>
    cells.map((cell, column) => aligned(cell, widths[column], paint)).join("  ").trimEnd();
  const heading = head.map((title): Cell => ({ text: title, colour: "dim" }));
  return [heading, ...rows].map((row) => `${line(row)}\n`).join("");
}

/** Names and values below each other; those without a value are left out. */
export function pairs(entries: readonly (readonly [string, Cell | undefined])[], paint: Paint) {
  const given = entries.filter((entry): entry is [string, Cell] => entry[1] !== undefined);
  const width = Math.max(0, ...given.map(([name]) => name.length));
  return given.map(([name, value]) =>
    `${paint("dim", name.padEnd(width))}  ${aligned(value, 0, paint)}\n`
  ).join("");
}

/** A cell's text in its colour. */
export function cellText(cell: Cell, paint: Paint): string {
  return typeof cell === "string" ? cell : paint(cell.colour, cell.text);
}

function aligned(cell: Cell, width: number, paint: Paint): string {
  return cellText(cell, paint) + " ".repeat(Math.max(0, width - textOf(cell).length));
}
