import { freePort, pause } from "../child.ts";
import { load } from "../load.ts";
import { shown } from "../numbers.ts";
import { BODY_BYTES, type Options } from "../options.ts";
import { peakRssMiB, rssMiB } from "../proc.ts";
import type { Report } from "../report.ts";
import { Sink } from "../sink.ts";
import { startSubject } from "../subjects.ts";
import { inFolder } from "../workspace.ts";

const FEW = 1_000;
/** Delivered beforehand, so that the heap has its working size before anything waits. */
const WARM_UP_POSTS = 10_000;
const PATIENCE_MS = 10_000;
const REST_MS = 5_000;

/** Resident memory with few and with many deliveries waiting for a target that is down. */
export async function waiting(options: Options): Promise<Report> {
  const { few, many, peak } = await inFolder((folder) => measure(folder, options));
  return {
    title: "Memory while deliveries wait, 2 KB",
    columns: ["waiting", "RSS MiB", "peak RSS MiB"],
    rows: [[shown(FEW), shown(few), ""], [shown(options.waiting), shown(many), shown(peak)]],
    verdicts: [{
      what: `RSS with ${shown(options.waiting)} waiting against ${shown(FEW)}`,
      value: many / few,
      bound: "≤",
      target: 1.3,
      unit: "×",
    }],
  };
}

async function measure(folder: string, { waiting, flags }: Options) {
  const sinkPort = freePort();
  await using subject = await startSubject("holdfast", { sinkPort, folder, flags });
  const { port, pid } = subject;
  await warmUp(port, sinkPort);
  await load({ port, bodyBytes: BODY_BYTES, posts: FEW });
  await pause(REST_MS);
  const few = rssMiB(pid);
  await load({ port, bodyBytes: BODY_BYTES, posts: waiting - FEW });
  await pause(REST_MS);
  return { few, many: rssMiB(pid), peak: peakRssMiB(pid) };
}

/** Delivers for a while; afterwards the target is down. */
async function warmUp(port: number, sinkPort: number): Promise<void> {
  await using sink = await Sink.start(sinkPort);
  const { accepted } = await load({ port, bodyBytes: BODY_BYTES, posts: WARM_UP_POSTS });
  await sink.arrived(accepted, PATIENCE_MS);
}
