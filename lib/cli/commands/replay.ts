import { examples } from "../examples.ts";
import { EXIT, Failure } from "../exit.ts";
import { apiFilters, type Filters, withFilters } from "../filters.ts";
import { many } from "../look.ts";
import { followJob } from "../progress.ts";
import type { AddCommand, Session } from "../session.ts";
import type { DeliveryView, JobView, ReplayPreview } from "../shapes.ts";
import { pairs } from "../table.ts";
import { safe } from "../text.ts";

interface Options extends Filters {
  dryRun?: boolean;
  wait: boolean;
}

export const addReplay: AddCommand = (program, session) => {
  const command = program.command("replay")
    .argument("[id...]", "deliveries to send again; or choose them with the options")
    .description("send deliveries again: same event id, same bytes");
  withFilters(command, "dead (where only other options choose) or delivered")
    .option("--dry-run", "say what would be sent again, and send nothing")
    .option("--no-wait", "do not wait for the end of a replay of many")
    .addHelpText(
      "after",
      examples(
        "replay 01JZ3V7Q0W2M5X8R4T6Y9B1C3D",
        "replay --endpoint github --since 2h --dry-run",
        "replay --endpoint github --reason exhausted --since 2026-05-14",
      ),
    )
    .action(async (ids: string[], { dryRun = false, wait, ...filters }: Options) => {
      const opened = session();
      const chosen = apiFilters(filters, opened.io.nowMs());
      const filtered = Object.keys(chosen).length > 0;
      if (filtered === ids.length > 0) {
        throw new Failure(EXIT.usage, "cannot replay: give either ids or options that choose");
      }
      if (!filtered) return await replayEach(opened, ids, dryRun);
      if (dryRun) return await preview(opened, chosen);
      await replayAll(opened, chosen, wait);
    });
};

/** Every id is tried, also after one was refused. */
async function replayEach({ client, out, err }: Session, ids: string[], dryRun: boolean) {
  let refused = 0;
  for (const id of ids) {
    const path = `/deliveries/${encodeURIComponent(id)}`;
    try {
      const delivery = dryRun
        ? await client.call<DeliveryView>(path)
        : await client.call<DeliveryView>(`${path}/replay`, { method: "POST" });
      if (out.json) out.value(delivery);
      else out.text(`${safe(`${delivery.id} ${delivery.state}`)}\n`);
    } catch (error) {
      if (!(error instanceof Failure) || error.exit !== EXIT.failed) throw error;
      err.text(`${safe(`${id}: ${error.message}`)}\n`);
      refused++;
    }
  }
  if (refused > 0) throw new Failure(EXIT.failed, `${many(refused, "delivery")} refused`);
}

async function preview({ client, out }: Session, filters: Filters): Promise<void> {
  const body = { ...filters, dryRun: true };
  const found = await client.call<ReplayPreview>("/replays", { method: "POST", body });
  if (out.json) return out.value(found);
  out.text(pairs([
    ["would replay", String(found.count)],
    ["oldest", found.oldest && safe(found.oldest)],
    ["newest", found.newest && safe(found.newest)],
    ["delivered before", String(found.alreadyDelivered)],
  ], out.paint));
}

async function replayAll(session: Session, filters: Filters, wait: boolean): Promise<void> {
  const { client, out } = session;
  let job = await client.call<JobView>("/replays", { method: "POST", body: filters });
  if (wait) job = await followJob(session, job);
  if (out.json) return out.value(job);
  const skipped = job.skipped > 0 ? `, ${job.skipped} skipped` : "";
  out.text(`${safe(`job ${job.id} ${job.state}: ${job.done} of ${job.total}`)}${skipped}\n`);
  if (job.state === "cancelled") throw new Failure(EXIT.failed, "the replay was cancelled");
}
