import { freePort, ROOT, spawn } from "../child.ts";
import { epochMs, median, shown } from "../numbers.ts";
import type { Options } from "../options.ts";
import type { Report } from "../report.ts";
import { launchOf, type SubjectName } from "../subjects.ts";
import { inFolder } from "../workspace.ts";

/** Starts in one round; the first one after a change of the code compiles and does not count. */
const STARTS = 5;
const GIVE_UP_MS = 30_000;

/** Time from the start of the process to the first 202, from the sources and as it is built. */
export async function cold(options: Options): Promise<Report> {
  await build();
  const bare: number[] = [], empty: number[] = [], used: number[] = [], built: number[] = [];
  for (let round = -1; round < options.rounds * STARTS; round++) {
    const sample = await inFolder(async (folder) => ({
      bare: await firstAcceptMs("bare", folder, options),
      empty: await firstAcceptMs("holdfast", folder, options),
      used: await firstAcceptMs("holdfast", folder, options),
      built: await firstAcceptMs("holdfast", folder, options, ["dist/main.js"]),
    }));
    if (round < 0) continue;
    bare.push(sample.bare);
    empty.push(sample.empty);
    used.push(sample.used);
    built.push(sample.built);
  }
  const row = (name: string, timesMs: number[]) => [
    name,
    ...[median(timesMs), Math.min(...timesMs), Math.max(...timesMs)].map(shown),
  ];
  return {
    title: `Cold start to the first 202, ${bare.length} starts`,
    columns: ["subject", "median ms", "least ms", "most ms"],
    rows: [
      row("bare", bare),
      row("holdfast, new store", empty),
      row("holdfast, used store", used),
      row("holdfast, built, used store", built),
    ],
    verdicts: [{
      what: "cold start of the built program to the first 202",
      value: median(built),
      bound: "≤",
      target: 250,
      unit: "ms",
    }],
  };
}

async function build(): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "-q", "build:program", "--outdir", "dist"],
    cwd: ROOT,
  }).output();
  if (!success) throw new Error(`cannot build: ${new TextDecoder().decode(stderr)}`);
}

async function firstAcceptMs(
  name: SubjectName,
  folder: string,
  { flags }: Options,
  args?: readonly string[],
): Promise<number> {
  const launch = launchOf(name, { sinkPort: freePort(), folder, flags });
  const sinceMs = epochMs();
  await using child = spawn(args === undefined ? launch : { ...launch, args });
  for (;;) {
    if (await accepts(child.port)) return epochMs() - sinceMs;
    if (epochMs() - sinceMs > GIVE_UP_MS) throw new Error(`cannot start ${name}: no 202 came`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function accepts(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/hook/bench`, {
      method: "POST",
      body: crypto.randomUUID(),
    });
    await response.body?.cancel();
    return response.status === 202;
  } catch {
    return false;
  }
}
