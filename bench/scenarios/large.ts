import { pause } from "../child.ts";
import { load } from "../load.ts";
import { medians, shown } from "../numbers.ts";
import { BODY_BYTES, type Options } from "../options.ts";
import { peakRssMiB } from "../proc.ts";
import type { Report } from "../report.ts";
import { Sink } from "../sink.ts";
import { startSubject } from "../subjects.ts";
import { inFolder } from "../workspace.ts";

const LARGE_BYTES = 20 * 1_048_576;
const LARGE_POSTS = 10;
const SMALL_PER_SECOND = 100;
const WARM_UP_POSTS = 2_000;
const PATIENCE_MS = 30_000;

type Sample = {
  largeP50: number;
  largeMax: number;
  smallP50: number;
  smallP99: number;
  rssMiB: number;
  left: number;
};

/** Ten posts of 20 MiB at once, with a trickle of small ones beside them. */
export async function large(options: Options): Promise<Report> {
  const samples: Sample[] = [];
  for (let round = 0; round < options.rounds; round++) {
    samples.push(await inFolder((folder) => measure(folder, options)));
  }
  const found = medians(samples);
  return {
    title: `Ten 20 MiB posts at once, medians of ${options.rounds}`,
    columns: [
      "large p50 ms",
      "large max ms",
      "small p50 ms",
      "small p99 ms",
      "peak RSS MiB",
      "left",
    ],
    rows: [Object.values(found).map(shown)],
    verdicts: [
      {
        what: "RSS with ten 20 MiB posts",
        value: found.rssMiB,
        bound: "≤",
        target: 400,
        unit: "MiB",
      },
      {
        what: "p99 of small posts beside them",
        value: found.smallP99,
        bound: "≤",
        target: 1_000,
        unit: "ms",
      },
    ],
  };
}

async function measure(folder: string, { flags }: Options): Promise<Sample> {
  await using sink = await Sink.start();
  await using subject = await startSubject("holdfast", { sinkPort: sink.port, folder, flags });
  const { port, pid } = subject;
  const warmUp = await load({ port, bodyBytes: BODY_BYTES, posts: WARM_UP_POSTS });
  await sink.arrived(warmUp.accepted, PATIENCE_MS);
  await sink.reset();
  const small = load({
    port,
    bodyBytes: BODY_BYTES,
    seconds: 8,
    perSecond: SMALL_PER_SECOND,
    connections: 8,
  });
  await pause(1_000);
  const big = await load({
    port,
    bodyBytes: LARGE_BYTES,
    posts: LARGE_POSTS,
    connections: LARGE_POSTS,
    firstNumber: LARGE_FIRST,
  });
  const beside = await small;
  const accepted = big.accepted + beside.accepted;
  const got = await sink.arrived(accepted, PATIENCE_MS);
  return {
    largeP50: big.p50Ms,
    largeMax: big.maxMs,
    smallP50: beside.p50Ms,
    smallP99: beside.p99Ms,
    rssMiB: peakRssMiB(pid),
    left: accepted - got.unique,
  };
}

/** Numbers of large posts begin where those of small ones never get to. */
const LARGE_FIRST = 1_000_000;
