import { load } from "../load.ts";
import { median, shown } from "../numbers.ts";
import { BODY_BYTES, type Options } from "../options.ts";
import type { Report } from "../report.ts";
import { Sink } from "../sink.ts";
import { fillStore } from "../stored.ts";
import { startSubject } from "../subjects.ts";
import { inFolder } from "../workspace.ts";

const WARM_UP_POSTS = 2_000;
const PATIENCE_MS = 15_000;

/** Accepts a second with many delivered deliveries in the store, against an empty one. */
export async function million(options: Options): Promise<Report> {
  return await inFolder((full) =>
    inFolder(async (empty) => {
      await fillStore(full, options.stored);
      const before: number[] = [], after: number[] = [];
      for (let round = 0; round < options.rounds; round++) {
        before.push(await acceptsPerSecond(empty, options));
        after.push(await acceptsPerSecond(full, options));
      }
      const [fresh, loaded] = [median(before), median(after)];
      return {
        title: `Accepts with ${shown(options.stored)} stored, 2 KB, medians of ${options.rounds}`,
        columns: ["stored", "accepts/s"],
        rows: [["0", shown(fresh)], [shown(options.stored), shown(loaded)]],
        verdicts: [{
          what: `accepts/s with ${shown(options.stored)} stored against an empty store`,
          value: loaded / fresh,
          bound: "≥",
          target: 0.8,
          unit: "×",
        }],
      };
    })
  );
}

async function acceptsPerSecond(folder: string, { flags, seconds }: Options): Promise<number> {
  await using sink = await Sink.start();
  await using subject = await startSubject("holdfast", { sinkPort: sink.port, folder, flags });
  const { port } = subject;
  const warmUp = await load({ port, bodyBytes: BODY_BYTES, posts: WARM_UP_POSTS });
  await sink.arrived(warmUp.accepted, PATIENCE_MS);
  await sink.reset();
  const sent = await load({ port, bodyBytes: BODY_BYTES, seconds });
  await sink.arrived(sent.accepted, PATIENCE_MS);
  return sent.accepted / sent.seconds;
}
