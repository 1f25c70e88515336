import type { Condition } from "../conditions.ts";
import type { Trouble } from "./answer.ts";
import { needsPerson } from "./answer.ts";
import type { Finding } from "./finding.ts";
import type { WatchRow } from "./watch.ts";

/** What conditions are decided from: one watched hook. */
export interface WatchSnapshot {
  endpoint: string;
  row: WatchRow;
  findings: readonly Finding[];
}

/** A gap in the history is told for so long; nothing can be done about it. */
const GAP_TOLD_MS = 7 * 86_400_000;

/** What of one watched hook needs an operator's attention. */
export function githubConditions(watch: WatchSnapshot, nowMs: number): Condition[] {
  const found = [
    troubleCondition(watch),
    openCondition(watch),
    gapCondition(watch, nowMs),
    driftCondition(watch),
  ];
  return found.filter((condition) => condition !== undefined);
}

function troubleCondition({ endpoint, row: { trouble } }: WatchSnapshot): Condition | undefined {
  if (trouble === undefined) return undefined;
  return {
    type: "watchdog_failing",
    severity: needsPerson(trouble) ? "critical" : "warning",
    sinceMs: trouble.sinceMs,
    count: trouble.count,
    subject: endpoint,
    detail: troubleText(trouble),
  };
}

/** What stands in the way, in the words of what to do about it. */
export function troubleText({ kind, status, code }: Trouble): string {
  const answer = status === undefined ? "" : ` (status ${status})`;
  switch (kind) {
    case "unreachable":
      return `cannot ask GitHub: no answer (${code ?? "unreachable"})`;
    case "outage":
      return `cannot ask GitHub: it answers with errors${answer}`;
    case "rate_limit":
      return `cannot ask GitHub: its rate limit is spent${answer}`;
    case "credentials":
      return `cannot ask GitHub: it refuses the App's key or the token${answer}`;
    case "permission":
      return `cannot ask GitHub: the App or the token lacks a permission for the hook${answer}`;
    case "not_found":
      return `cannot ask GitHub: it knows no such hook${answer}`;
    case "unexpected":
      return `cannot ask GitHub: its answer is not understood${answer}`;
  }
}

function openCondition({ endpoint, findings }: WatchSnapshot): Condition | undefined {
  const open = findings.filter((finding) => finding.open !== undefined);
  if (open.length === 0) return undefined;
  const old = open.filter((finding) => finding.open !== "exhausted").length;
  return {
    type: "watchdog_failing",
    severity: "critical",
    sinceMs: Math.min(...open.map((finding) => finding.foundAtMs)),
    count: open.length,
    subject: endpoint,
    detail: "events of GitHub are not here and asking again did not bring them" +
      (old === 0 ? "" : `; GitHub no longer has ${old} of them (older than 3 days)`),
  };
}

function gapCondition({ endpoint, row }: WatchSnapshot, nowMs: number): Condition | undefined {
  const { unseen } = row.progress;
  if (unseen === undefined || unseen.untilMs < nowMs - GAP_TOLD_MS) return undefined;
  const [from, until] = [unseen.fromMs, unseen.untilMs].map((ms) => new Date(ms).toISOString());
  return {
    type: "watchdog_failing",
    severity: "warning",
    sinceMs: unseen.untilMs,
    count: 1,
    subject: endpoint,
    detail: `GitHub's history from ${from} to ${until} was gone before it could be read`,
  };
}

function driftCondition({ endpoint, row: { health } }: WatchSnapshot): Condition | undefined {
  const { drifts, sinceMs = 0 } = health;
  if (drifts.length === 0) return undefined;
  return {
    type: "app_config_drift",
    severity: "warning",
    sinceMs,
    count: drifts.length,
    subject: endpoint,
    detail: drifts.map(({ detail }) => detail).join("; "),
  };
}
