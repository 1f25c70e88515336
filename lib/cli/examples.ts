/** Examples below a command's help, one a line. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  deno task cli ${line}\n`).join("")}`;
}
