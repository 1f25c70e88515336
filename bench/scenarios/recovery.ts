import { pause } from "../child.ts";
import { load, type LoadResult } from "../load.ts";
import { epochMs, shown } from "../numbers.ts";
import { BODY_BYTES, type Options } from "../options.ts";
import type { Report } from "../report.ts";
import { Sink } from "../sink.ts";
import { startSubject } from "../subjects.ts";
import { inFolder } from "../workspace.ts";

const MARGIN_SECONDS = 5;
const MISSING_ASKED = 1_000;

interface Sample {
  accepted: number;
  atKill: number;
  afterSeconds: number;
  lost: number;
  duplicates: number;
}

/** Kills the program under load, starts it again, and waits for all that was accepted. */
export async function recovery(options: Options): Promise<Report> {
  const samples: Sample[] = [];
  for (let round = 0; round < options.rounds; round++) {
    samples.push(await inFolder((folder) => measure(folder, options)));
  }
  const most = (field: keyof Sample) => Math.max(...samples.map((sample) => sample[field]));
  const limit = options.leaseSeconds + MARGIN_SECONDS;
  return {
    title: `kill -9 under load, LEASE=${options.leaseSeconds}s, ${options.rounds} rounds`,
    columns: ["accepted", "delivered at the kill", "all delivered after s", "lost", "dup"],
    rows: samples.map((sample) => Object.values(sample).map(shown)),
    verdicts: [
      {
        what: "all delivered after the restart (LEASE + 5 s)",
        value: most("afterSeconds"),
        bound: "≤",
        target: limit,
        unit: "s",
      },
      { what: "accepted and lost in a kill -9", value: most("lost"), bound: "≤", target: 0 },
    ],
    notes: ["Attempts that were under way at the kill are made again: at least once, not once."],
  };
}

async function measure(folder: string, options: Options): Promise<Sample> {
  await using sink = await Sink.start();
  const env = { LEASE: `${options.leaseSeconds}s` };
  const setup = { sinkPort: sink.port, folder, env, flags: options.flags };
  const first = await startSubject("holdfast", setup);
  const sending = load({ port: first.port, bodyBytes: BODY_BYTES });
  await pause(options.seconds * 1_000);
  await first.end();
  const sent = await sending;
  const { unique: atKill } = await sink.progress();
  const restartedAtMs = epochMs();
  await using _second = await startSubject("holdfast", setup);
  await settled(sink, sent, (options.leaseSeconds + 2 * MARGIN_SECONDS) * 1_000);
  const { lastAtMs, duplicates } = await sink.progress();
  return {
    accepted: sent.accepted,
    atKill,
    afterSeconds: (lastAtMs - restartedAtMs) / 1_000,
    lost: await lost(sink, sent),
    duplicates,
  };
}

/** Waits until nothing that was answered 202 is missing, or the time is over. */
async function settled(sink: Sink, sent: LoadResult, longestMs: number): Promise<void> {
  const endMs = performance.now() + longestMs;
  while (await lost(sink, sent) > 0 && performance.now() < endMs) await pause(200);
}

/** Posts that were answered 202 and never came, at most 1,000 counted. */
async function lost(sink: Sink, { sent, unanswered }: LoadResult): Promise<number> {
  const { numbers } = await sink.missing(sent);
  const excused = new Set(unanswered);
  const count = numbers.filter((number) => !excused.has(number)).length;
  return Math.min(count, MISSING_ASKED);
}
