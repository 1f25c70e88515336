import { type Child, pause } from "../child.ts";
import { load } from "../load.ts";
import { medians, shown, spreadOf } from "../numbers.ts";
import { BODY_BYTES, type Options } from "../options.ts";
import type { Report } from "../report.ts";
import { Sink } from "../sink.ts";
import { startSubject } from "../subjects.ts";
import { inFolder } from "../workspace.ts";

const POSTS = 60;
const PER_SECOND = 20;
const WARM_UP_POSTS = 500;

type Sample = { commit: number; bare: number; holdfast: number };

/** One post at a time at an idle relay, against one bare KV commit and a bare handler. */
export async function lone(options: Options): Promise<Report> {
  const samples: Sample[] = [];
  for (let round = 0; round < options.rounds; round++) {
    samples.push(await inFolder((folder) => measure(folder, options)));
  }
  const { commit, bare, holdfast } = medians(samples);
  const value = holdfast / (commit + bare);
  return {
    title: `A lone post, 2 KB, medians of ${options.rounds}`,
    columns: ["one KV commit p50 ms", "bare handler p50 ms", "holdfast p50 ms"],
    rows: [[commit, bare, holdfast].map(shown)],
    verdicts: [{
      what: "lone post against one commit plus a bare handler",
      value,
      bound: "≤",
      target: 1.5,
      unit: "×",
    }],
  };
}

async function measure(folder: string, { flags }: Options): Promise<Sample> {
  await using sink = await Sink.start();
  const setup = { sinkPort: sink.port, folder, flags };
  await using bare = await startSubject("bare", setup);
  await using ours = await startSubject("holdfast", setup);
  return {
    commit: await commitMs(folder),
    bare: await loneMs(bare),
    holdfast: await loneMs(ours),
  };
}

/** Median time of one post at a process that is warm and has nothing else to do. */
async function loneMs({ port }: Child): Promise<number> {
  await load({ port, bodyBytes: BODY_BYTES, posts: WARM_UP_POSTS });
  await pause(1_000);
  const plan = { port, bodyBytes: BODY_BYTES, posts: POSTS, connections: 1 };
  return (await load({ ...plan, perSecond: PER_SECOND })).p50Ms;
}

/** Median time of one commit that sets one value of a body's size. */
async function commitMs(folder: string): Promise<number> {
  using kv = await Deno.openKv(`${folder}/commit.db`);
  const value = new Uint8Array(BODY_BYTES);
  for (let n = 0; n < WARM_UP_POSTS; n++) await kv.set(["warm", n], value);
  const timesMs: number[] = [];
  for (let n = 0; n < POSTS; n++) {
    await pause(1_000 / PER_SECOND);
    const sinceMs = performance.now();
    await kv.set(["commit", n], value);
    timesMs.push(performance.now() - sinceMs);
  }
  return spreadOf(timesMs).p50Ms;
}
