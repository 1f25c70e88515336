import type { Kv } from "../../lib/store/kv.ts";
import type { Plan } from "./plan.ts";
import { type Report, simulate } from "./simulation.ts";

/** What is left of a plan that still breaks the same promise. */
export interface Shrunk {
  /** Indices of the actions that are needed. */
  kept: number[];
  report: Report;
}

const MOST_RUNS = 300;

/** Leaves actions out, many at once first, for as long as the same promise is broken. */
export async function shrink(
  plan: Plan,
  first: Report,
  tamper?: (kv: Kv) => Kv,
): Promise<Shrunk> {
  const rule = first.violations[0]?.rule;
  let best: Shrunk = { kept: plan.actions.map((_, index) => index), report: first };
  let runs = 0;
  for (let size = best.kept.length >> 1; size >= 1; size = size >> 1) {
    for (let at = 0; at < best.kept.length && runs < MOST_RUNS;) {
      const kept = best.kept.filter((_, index) => index < at || index >= at + size);
      const actions = kept.map((index) => plan.actions[index]);
      const report = await simulate({ ...plan, actions }, tamper);
      runs++;
      if (report.violations[0]?.rule === rule) best = { kept, report };
      else at += size;
    }
  }
  return best;
}
