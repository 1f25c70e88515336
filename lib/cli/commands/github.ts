import { examples } from "../examples.ts";
import type { AddCommand, Session } from "../session.ts";
import type { GithubWatchView, PageView } from "../shapes.ts";
import { pairs, table } from "../table.ts";
import { safe } from "../text.ts";
import { relative } from "../time.ts";

export const addGithub: AddCommand = (program, session) => {
  const command = program.command("github")
    .description("the watched GitHub hooks: what never arrived, and how they are set up")
    .addHelpText("after", examples("github", "github repair", "github --json | jq .findings"))
    .action(async () => {
      const opened = session();
      show(opened, await opened.client.call<PageView<GithubWatchView>>("/github"));
    });
  command.command("repair")
    .description("look at GitHub's history now, with a fresh round of tries for what was given up")
    .action(async () => {
      const opened = session();
      const path = "/github/repair";
      show(opened, await opened.client.call<PageView<GithubWatchView>>(path, { method: "POST" }));
    });
};

function show({ out, io }: Session, { items }: PageView<GithubWatchView>): void {
  if (out.json) return items.forEach((item) => out.value(item));
  if (items.length === 0) return out.text("no endpoint has github set\n");
  for (const watch of items) out.text(watchText(watch, io.nowMs(), out.paint));
}

function watchText(watch: GithubWatchView, nowMs: number, paint: Session["out"]["paint"]): string {
  const { endpoint, kind, owner, checkedAt, trouble, setup } = watch;
  const head = pairs([
    ["endpoint", `${safe(endpoint)} (${kind}${owner === undefined ? "" : ` ${safe(owner)}`})`],
    ["history read", checkedAt === undefined ? "not yet" : relative(checkedAt, nowMs)],
    ["missing", `${watch.repairing} asked for again, ${watch.open} given up`],
    ["repaired", String(watch.repaired)],
    ["trouble", trouble && { text: safe(trouble.detail), colour: "red" }],
    ["set-up", setup.state],
    ...setup.drifts.map(({ detail }) => ["", { text: safe(detail), colour: "yellow" }] as const),
  ], paint);
  const rows = watch.findings.map(({ guid, event, kind: what, tries, state, foundAt }) => [
    safe(guid),
    safe(event),
    what,
    String(tries),
    state,
    relative(foundAt, nowMs),
  ]);
  return head + table(["EVENT ID", "EVENT", "WHAT", "TRIES", "STATE", "FOUND"], rows, paint) + "\n";
}
