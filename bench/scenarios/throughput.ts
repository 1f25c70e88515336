import { load } from "../load.ts";
import { medians, shown, shownBytes } from "../numbers.ts";
import { BODY_BYTES, type Options } from "../options.ts";
import { cpuMs, machineCpuMs, peakRssMiB } from "../proc.ts";
import type { Report, Verdict } from "../report.ts";
import { Sink } from "../sink.ts";
import { startSubject, type SubjectName, SUBJECTS } from "../subjects.ts";
import { inFolder } from "../workspace.ts";

/** Posts that are sent before anything is measured, so that all code is compiled. */
const WARM_UP_SECONDS = 0.5;
/** The plain reading would deliver for minutes what it took in seconds. */
const DRAIN_MS = 15_000;
const PATIENCE_MS = 10_000;

/** One run of one subject with one body size. */
type Sample = {
  accepts: number;
  acceptP50: number;
  acceptP99: number;
  delivered: number;
  endP50: number;
  endP99: number;
  rssMiB: number;
  cpuMs: number;
  driverCpuMs: number;
  othersPercent: number;
  left: number;
  duplicates: number;
};

/** Accepts and deliveries a second at 64 connections, for all subjects and body sizes. */
export async function throughput(options: Options): Promise<Report> {
  const samples = new Map<string, Sample[]>();
  for (let round = 0; round < options.rounds; round++) {
    for (const bytes of options.sizes) {
      for (const name of SUBJECTS) {
        const key = `${name} ${bytes}`;
        samples.set(key, [...samples.get(key) ?? [], await measure(name, bytes, options)]);
      }
    }
  }
  const table = options.sizes.flatMap((bytes) =>
    SUBJECTS.map((name) => ({ name, bytes, sample: medians(samples.get(`${name} ${bytes}`)!) }))
  );
  const ours = options.sizes.flatMap((bytes) => samples.get(`holdfast ${bytes}`)!);
  return {
    title: `Throughput, 64 connections, ${options.seconds} s, medians of ${options.rounds}`,
    columns: COLUMNS,
    rows: table.map(({ name, bytes, sample }) => row(name, bytes, sample)),
    verdicts: [...ratios(table), ...kept(ours)],
    notes: [
      "Driver: CPU of load generator and sink a post. Others: share of the machine that " +
      "everything else used meanwhile, the kernel included. Left: accepted, but not delivered " +
      `within ${DRAIN_MS / 1_000} s after the last post.`,
    ],
  };
}

async function measure(name: SubjectName, bytes: number, options: Options): Promise<Sample> {
  return await inFolder(async (folder) => {
    await using sink = await Sink.start();
    const { flags, seconds } = options;
    await using subject = await startSubject(name, { sinkPort: sink.port, folder, flags });
    const { pid, port } = subject;
    const delivers = name !== "bare";
    const warmUp = await load({ port, bodyBytes: bytes, seconds: WARM_UP_SECONDS });
    if (delivers) await sink.arrived(warmUp.accepted, PATIENCE_MS);
    await sink.reset();
    const before = { subject: cpuMs(pid), sink: cpuMs(sink.pid), machine: machineCpuMs() };
    const sinceMs = performance.now();
    const sent = await load({ port, bodyBytes: bytes, seconds });
    if (delivers) await sink.arrived(sent.accepted, PATIENCE_MS, DRAIN_MS);
    const got = await sink.report();
    const tookMs = performance.now() - sinceMs;
    const subjectCpuMs = cpuMs(pid) - before.subject;
    const driverCpuMs = sent.cpuMs + cpuMs(sink.pid) - before.sink;
    const othersCpuMs = machineCpuMs() - before.machine - subjectCpuMs - driverCpuMs;
    const done = delivers ? got.unique : sent.accepted;
    return {
      accepts: sent.accepted / sent.seconds,
      acceptP50: sent.p50Ms,
      acceptP99: sent.p99Ms,
      delivered: delivers ? got.unique * 1_000 / (got.lastAtMs - sent.firstSentAtMs) : NaN,
      endP50: delivers ? got.p50Ms : NaN,
      endP99: delivers ? got.p99Ms : NaN,
      rssMiB: peakRssMiB(pid),
      cpuMs: subjectCpuMs / done,
      driverCpuMs: driverCpuMs / sent.sent,
      othersPercent: 100 * othersCpuMs / (tookMs * navigator.hardwareConcurrency),
      left: delivers ? sent.accepted - got.unique : NaN,
      duplicates: delivers ? got.duplicates : NaN,
    };
  });
}

const COLUMNS = [
  "body",
  "subject",
  "accepts/s",
  "p50 ms",
  "p99 ms",
  "delivered/s",
  "e2e p50 ms",
  "e2e p99 ms",
  "peak RSS MiB",
  "CPU ms/delivery",
  "driver CPU ms",
  "others %",
  "left",
  "dup",
];

function row(name: SubjectName, bytes: number, sample: Sample): string[] {
  const { accepts, acceptP50, acceptP99, delivered, endP50, endP99, rssMiB, ...rest } = sample;
  const { cpuMs, driverCpuMs, othersPercent, left, duplicates } = rest;
  const figures = [accepts, acceptP50, acceptP99, delivered, endP50, endP99, rssMiB];
  return [
    shownBytes(bytes),
    name,
    ...[...figures, cpuMs, driverCpuMs, othersPercent, left, duplicates].map(shown),
  ];
}

function ratios(table: readonly { name: SubjectName; bytes: number; sample: Sample }[]): Verdict[] {
  const of = (name: SubjectName) =>
    table.find((one) => one.name === name && one.bytes === BODY_BYTES)?.sample;
  const bare = of("bare"), plain = of("plain"), ours = of("holdfast");
  if (bare === undefined || plain === undefined || ours === undefined) return [];
  const ratio = (what: string, value: number, target: number): Verdict => ({
    what: `${what} (2 KB)`,
    value,
    bound: "≥",
    target,
    unit: "×",
  });
  return [
    ratio("accepts/s against the plain reading", ours.accepts / plain.accepts, 4),
    ratio("accepts/s against the bare handler", ours.accepts / bare.accepts, 0.2),
    ratio("delivered/s against the plain reading", ours.delivered / plain.delivered, 8),
  ];
}

function kept(samples: readonly Sample[]): Verdict[] {
  const sum = (field: "left" | "duplicates") =>
    samples.reduce((total, sample) => total + sample[field], 0);
  return [
    { what: "deliveries lost, all rounds and sizes", value: sum("left"), bound: "≤", target: 0 },
    { what: "deliveries doubled", value: sum("duplicates"), bound: "≤", target: 0 },
  ];
}
