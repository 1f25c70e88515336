import { examples } from "../examples.ts";
import { EXIT, Failure } from "../exit.ts";
import { bounded, laneState, word } from "../look.ts";
import type { AddCommand, Session } from "../session.ts";
import type { ConditionView, LaneView, StatusView } from "../shapes.ts";
import { table } from "../table.ts";
import { safe } from "../text.ts";
import { relative } from "../time.ts";

export const addStatus: AddCommand = (program, session) => {
  program.command("status")
    .description("what the relay holds and what needs attention")
    .option("--check", "end with 1 where a condition is critical")
    .addHelpText("after", examples("status", "status --check --json"))
    .action(async ({ check }: { check?: boolean }) => {
      const opened = session();
      const status = await opened.client.call<StatusView>("/status");
      if (opened.out.json) opened.out.value(status);
      else show(opened, status);
      const critical = status.conditions.some(({ severity }) => severity === "critical");
      if (check && critical) throw new Failure(EXIT.failed, "a condition is critical");
    });
};

function show({ out, io }: Session, status: StatusView): void {
  const { version, scheduler, counts, oldestPendingAt, conditions, lanes } = status;
  const nowMs = io.nowMs();
  const oldest = oldestPendingAt === undefined
    ? ""
    : `, oldest accepted ${relative(oldestPendingAt, nowMs)}`;
  out.text(
    `holdfast ${safe(version)}, scheduler ${safe(scheduler.mode)} (queue ${
      safe(scheduler.queue)
    })\n` +
      `${bounded(counts.pending, counts)} pending${oldest}, ${counts.inFlight} in flight, ` +
      `${bounded(counts.dead, counts)} dead\n`,
  );
  out.text(section(laneTable(lanes, nowMs, out.paint)));
  out.text(section(conditionTable(conditions, nowMs, out.paint)));
}

const section = (text: string) => text === "" ? "" : `\n${text}`;

function laneTable(lanes: readonly LaneView[], nowMs: number, paint: Session["out"]["paint"]) {
  const rows = lanes.map((lane) => [
    safe(lane.endpoint),
    laneState(lane, nowMs),
    bounded(lane.counts.pending, lane.counts),
    String(lane.counts.inFlight),
    bounded(lane.counts.dead, lane.counts),
    lane.oldestPendingAt === undefined ? "" : relative(lane.oldestPendingAt, nowMs),
  ]);
  return table(["ENDPOINT", "STATE", "PENDING", "IN FLIGHT", "DEAD", "OLDEST"], rows, paint);
}

function conditionTable(
  conditions: readonly ConditionView[],
  nowMs: number,
  paint: Session["out"]["paint"],
) {
  const rows = conditions.map(({ severity, type, subject = "", since, detail }) => [
    word(severity),
    safe(type),
    safe(subject),
    relative(since, nowMs),
    safe(detail),
  ]);
  return table(["SEVERITY", "CONDITION", "SUBJECT", "SINCE", "DETAIL"], rows, paint);
}
