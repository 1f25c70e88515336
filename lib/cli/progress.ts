import type { Session } from "./session.ts";
import type { JobView } from "./shapes.ts";

const POLL_MS = 300;
const BAR_WIDTH = 30;
/** Back to the line's start, and clear it (ECMA-48 §8.3.41). */
const FRESH_LINE = "\r\x1b[K";

/** Waits for a replay's end; in a terminal with a bar that grows. The job needs nobody to wait. */
export async function followJob({ client, err }: Session, started: JobView): Promise<JobView> {
  let job = started;
  while (job.state === "running") {
    if (err.isTerminal) err.text(FRESH_LINE + bar(job));
    await new Promise<void>((resolve) => setTimeout(resolve, POLL_MS));
    job = await client.call<JobView>(`/replays/${encodeURIComponent(job.id)}`);
  }
  if (err.isTerminal) err.text(FRESH_LINE);
  return job;
}

/** A replay's progress on one line. */
export function bar({ done, skipped, total }: JobView): string {
  const share = total === 0 ? 1 : Math.min(1, (done + skipped) / total);
  const filled = Math.round(share * BAR_WIDTH);
  const drawn = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
  return `${drawn} ${done + skipped}/${total} (${Math.floor(share * 100)} %)`;
}
