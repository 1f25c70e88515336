import { parseArgs } from "node:util";
import { planOf } from "./plan.ts";
import { type Report, simulate } from "./simulation.ts";
import { shrink } from "./shrink.ts";
import { storyOf } from "./story.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    keep: { type: "string" },
    whole: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
  },
});

if (values.seed !== undefined) await runOne(Number(values.seed), values.keep);
else await runMany(Number(values.from), Number(values.seeds));

/** Runs one seed, or some actions of it, and tells its story. */
async function runOne(seed: number, keep?: string): Promise<void> {
  const plan = planOf(seed);
  const kept = keep?.split(",").map(Number);
  if (kept !== undefined) plan.actions = plan.actions.filter((_, index) => kept.includes(index));
  const report = await simulate(plan);
  console.log(storyOf(report, values.whole || report.violations.length === 0));
  Deno.exit(report.violations.length === 0 ? 0 : 1);
}

/** Runs seeds until one fails, and then looks for the shortest story of that one. */
async function runMany(from: number, seeds: number): Promise<void> {
  const startedAtMs = performance.now();
  let virtualMs = 0;
  for (let seed = from; seed < from + seeds; seed++) {
    const report = await simulate(planOf(seed));
    virtualMs += report.elapsedMs;
    if (report.violations.length > 0) await fail(seed, report);
  }
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const hours = virtualMs / 3_600_000;
  console.log(
    `${seeds} seeds, ${hours.toFixed(1)} virtual hours, ${seconds.toFixed(1)} s: no fault`,
  );
}

async function fail(seed: number, first: Report): Promise<never> {
  console.log(`seed ${seed} fails: ${first.violations[0].rule}`);
  if (values.quick) Deno.exit(1);
  console.log("Looking for a shorter story …");
  const { kept, report } = await shrink(planOf(seed), first);
  console.log(storyOf(report, false));
  console.log(`\ndeno task sim --seed ${seed} --keep ${kept.join(",")}`);
  Deno.exit(1);
}
