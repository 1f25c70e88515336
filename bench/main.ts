/** Measures the program beside two references. See README.md in this folder. */
import { parseOptions } from "./options.ts";
import { machine } from "./proc.ts";
import { rendered, type Report, summary } from "./report.ts";
import { EXTRA, REGULAR, SCENARIOS } from "./scenarios.ts";

const options = parseOptions(Deno.args, REGULAR, EXTRA);
if (typeof options === "string") {
  console.error(options);
  Deno.exit(2);
}
console.log(`# Benchmark\n\n${machine()}\n`);
const reports: Report[] = [];
for (const name of options.only) {
  const report = await SCENARIOS[name](options);
  console.log(rendered(report));
  reports.push(report);
}
if (reports.length > 1) console.log(summary(reports));
