import type { Options } from "./options.ts";
import type { Report } from "./report.ts";
import { admin } from "./scenarios/admin.ts";
import { backlog } from "./scenarios/backlog.ts";
import { cold } from "./scenarios/cold.ts";
import { lanes } from "./scenarios/lanes.ts";
import { large } from "./scenarios/large.ts";
import { lone } from "./scenarios/lone.ts";
import { million } from "./scenarios/million.ts";
import { recovery } from "./scenarios/recovery.ts";
import { steady } from "./scenarios/steady.ts";
import { throughput } from "./scenarios/throughput.ts";
import { waiting } from "./scenarios/waiting.ts";

type Scenario = (options: Options) => Promise<Report>;

/** In the order in which they run. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  throughput,
  steady,
  lone,
  backlog,
  recovery,
  large,
  waiting,
  lanes,
  admin,
  cold,
  million,
};

/** Run only where they are asked for. */
export const EXTRA: readonly string[] = ["cold", "million"];

export const REGULAR = Object.keys(SCENARIOS).filter((name) => !EXTRA.includes(name));
