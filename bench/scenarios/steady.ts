import { load } from "../load.ts";
import { medians, shown } from "../numbers.ts";
import { BODY_BYTES, type Options } from "../options.ts";
import type { Report } from "../report.ts";
import { Sink } from "../sink.ts";
import { startSubject } from "../subjects.ts";
import { inFolder } from "../workspace.ts";

const PER_SECOND = 100;
const WARM_UP_POSTS = 500;
const CONNECTIONS = 8;
const PATIENCE_MS = 10_000;

type Sample = { acceptP50: number; acceptP99: number; endP50: number; endP99: number };

/**
 * A steady trickle: how long after it was sent a post is at the target, against the time
 * in which the bare handler has answered it.
 */
export async function steady(options: Options): Promise<Report> {
  const ours: Sample[] = [], bare: Sample[] = [];
  for (let round = 0; round < options.rounds; round++) {
    bare.push(await inFolder((folder) => measure("bare", folder, options)));
    ours.push(await inFolder((folder) => measure("holdfast", folder, options)));
  }
  const [us, floor] = [medians(ours), medians(bare)];
  return {
    title: `Steady ${PER_SECOND} posts/s, 2 KB, medians of ${options.rounds}`,
    columns: ["subject", "accept p50 ms", "accept p99 ms", "e2e p50 ms", "e2e p99 ms"],
    rows: [["bare", ...Object.values(floor).map(shown)], [
      "holdfast",
      ...Object.values(us).map(shown),
    ]],
    verdicts: [
      above("p50", us.endP50 - floor.acceptP50, 2),
      above("p99", us.endP99 - floor.acceptP99, 10),
    ],
  };
}

async function measure(
  name: "bare" | "holdfast",
  folder: string,
  { flags, seconds }: Options,
): Promise<Sample> {
  await using sink = await Sink.start();
  await using subject = await startSubject(name, { sinkPort: sink.port, folder, flags });
  const { port } = subject;
  const delivers = name === "holdfast";
  const warmUp = await load({ port, bodyBytes: BODY_BYTES, posts: WARM_UP_POSTS });
  if (delivers) await sink.arrived(warmUp.accepted, PATIENCE_MS);
  await sink.reset();
  const sent = await load({
    port,
    bodyBytes: BODY_BYTES,
    seconds: 2 * seconds,
    perSecond: PER_SECOND,
    connections: CONNECTIONS,
  });
  if (delivers) await sink.arrived(sent.accepted, PATIENCE_MS);
  const got = await sink.report();
  return {
    acceptP50: sent.p50Ms,
    acceptP99: sent.p99Ms,
    endP50: delivers ? got.p50Ms : NaN,
    endP99: delivers ? got.p99Ms : NaN,
  };
}

function above(which: string, value: number, target: number) {
  const what = `end to end ${which} above the bare handler's answer at ${PER_SECOND}/s`;
  return { what, value, bound: "≤", target, unit: "ms" } as const;
}
