import { type Child, freePort } from "../child.ts";
import { load, type LoadResult } from "../load.ts";
import { epochMs, medians, shown } from "../numbers.ts";
import { BODY_BYTES, type Options } from "../options.ts";
import { cpuMs } from "../proc.ts";
import type { Report } from "../report.ts";
import { Sink, type SinkProgress } from "../sink.ts";
import { startSubject } from "../subjects.ts";
import { inFolder } from "../workspace.ts";

/** Longer than the program waits between two looks at a target that is down. */
const PATIENCE_MS = 40_000;

/** One drained backlog. */
type Sample = {
  acceptsDown: number;
  drained: number;
  firstAfterMs: number;
  seconds: number;
  cpuMs: number;
  left: number;
  duplicates: number;
};

/**
 * Fills a backlog while nothing can be delivered and drains it: the program's target is
 * down and comes back, the plain reading starts to listen to its queue.
 */
export async function backlog(options: Options): Promise<Report> {
  const ours: Sample[] = [], plain: Sample[] = [];
  for (let round = 0; round < options.rounds; round++) {
    ours.push(await inFolder((folder) => drainOurs(folder, options)));
    plain.push(await inFolder((folder) => drainPlain(folder, options)));
  }
  const [us, them] = [medians(ours), medians(plain)];
  return {
    title: `Backlog of ${options.backlog}, 2 KB, medians of ${options.rounds}`,
    columns: [
      "subject",
      "accepts/s meanwhile",
      "first after ms",
      "drained/s",
      "seconds",
      "CPU ms/delivery",
      "left",
      "dup",
    ],
    rows: [row("holdfast", us), row("plain", them)],
    verdicts: [
      { what: "backlog drained", value: us.drained, bound: "≥", target: 3_000, unit: "/s" },
      { what: "backlog left or lost", value: us.left, bound: "≤", target: 0 },
    ],
    notes: ["Drained/s counts from the first arrival; the wait before it is beside."],
  };
}

async function drainOurs(folder: string, { backlog, flags }: Options): Promise<Sample> {
  const sinkPort = freePort();
  await using subject = await startSubject("holdfast", { sinkPort, folder, flags });
  const sent = await load({ port: subject.port, bodyBytes: BODY_BYTES, posts: backlog });
  const upAtMs = epochMs();
  await using sink = await Sink.start(sinkPort);
  return await drained(subject, sink, sent, upAtMs);
}

async function drainPlain(folder: string, { backlog }: Options): Promise<Sample> {
  await using sink = await Sink.start();
  const setup = { sinkPort: sink.port, folder };
  const sent = await holding(setup, backlog);
  const upAtMs = epochMs();
  await using subject = await startSubject("plain", setup);
  return await drained(subject, sink, sent, upAtMs);
}

async function holding(
  setup: { sinkPort: number; folder: string },
  posts: number,
): Promise<LoadResult> {
  await using subject = await startSubject("plain", { ...setup, hold: true });
  return await load({ port: subject.port, bodyBytes: BODY_BYTES, posts });
}

async function drained(
  { pid }: Child,
  sink: Sink,
  sent: LoadResult,
  upAtMs: number,
): Promise<Sample> {
  const beforeMs = cpuMs(pid);
  const got: SinkProgress = await sink.arrived(sent.accepted, PATIENCE_MS);
  const seconds = (got.lastAtMs - got.firstAtMs) / 1_000;
  return {
    acceptsDown: sent.accepted / sent.seconds,
    firstAfterMs: got.firstAtMs - upAtMs,
    drained: got.unique / seconds,
    seconds,
    cpuMs: (cpuMs(pid) - beforeMs) / got.unique,
    left: sent.accepted - got.unique,
    duplicates: got.duplicates,
  };
}

function row(name: string, sample: Sample): string[] {
  const { acceptsDown, firstAfterMs, drained, seconds, cpuMs, left, duplicates } = sample;
  return [
    name,
    ...[acceptsDown, firstAfterMs, drained, seconds, cpuMs, left, duplicates].map(shown),
  ];
}
