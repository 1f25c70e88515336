/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";
import { count, Time } from "./format.tsx";
import { readJson, useNow } from "./live.tsx";
import type { JobView } from "./views.ts";

export interface ReplayJobProps {
  job: JobView;
  csrf: string;
  nowMs: number;
}

/** A job reports no events of its own; it is asked while it runs. */
const ASK_MS = 500;

/** How far a replay job is, with a way to stop it. */
export function ReplayJob({ job: initial, csrf, nowMs: initialMs }: ReplayJobProps) {
  const [job, setJob] = useState(initial);
  const nowMs = useNow(initialMs);
  useEffect(() => {
    if (job.state !== "running") return;
    const ask = () => readJson<JobView>(`/api/v1/replays/${job.id}`).then(setJob, () => {});
    const timer = setInterval(ask, ASK_MS);
    return () => clearInterval(timer);
  }, [job.id, job.state]);
  return (
    <section class="card">
      <div class="title">
        <h2>
          {job.state === "running" ? "Replaying" : job.state === "done" ? "Done" : "Stopped"}
        </h2>
        {job.state === "running" && (
          <form method="post" action={`/admin/replays/${job.id}/cancel`}>
            <input type="hidden" name="csrf" value={csrf} />
            <button type="submit" class="danger">Stop</button>
          </form>
        )}
      </div>
      <progress
        max={Math.max(1, job.total)}
        value={job.state === "done" ? Math.max(1, job.total) : job.done + job.skipped}
        aria-label="Progress of the replay"
      />
      <p role="status">
        {count(job.done)} of {count(job.total)} replayed
        {job.skipped > 0 && `, ${count(job.skipped)} had changed`}
      </p>
      <p class="note">
        Started <Time at={job.createdAt} nowMs={nowMs} />
        {job.finishedAt !== undefined && (
          <>
            , ended <Time at={job.finishedAt} nowMs={nowMs} />
          </>
        )}. It goes on if you leave this page.
      </p>
    </section>
  );
}
