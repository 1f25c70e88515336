import { HISTORY_MS } from "../../github_settings.ts";
import { type HistoryRow, isAcknowledged } from "./history.ts";

/** GitHub failed to deliver, or holds for delivered what is not here. */
export type FindingKind = "remote_failure" | "phantom_ack";

/** Why a finding stays open and nothing more is tried. */
export type OpenReason = "exhausted" | "too_old" | "gone";

/** An event that GitHub has and this relay has not. Deleted once the event is here. */
export interface Finding {
  guid: string;
  kind: FindingKind;
  /** The try to ask for again: the newest one seen. */
  rowId: string;
  deliveredAtMs: number;
  event: string;
  action?: string;
  statusCode: number;
  foundAtMs: number;
  /** Redeliveries asked for and accepted by GitHub. */
  tries: number;
  firstTriedAtMs?: number;
  lastTriedAtMs?: number;
  /** Absent while repair goes on. */
  open?: OpenReason;
}

const M = 60_000, H = 60 * M;

/** When redelivery is asked for, counted from the first time. */
export const REPAIR_AT_MS = [0, 5 * M, 15 * M, H, 6 * H];

/**
 * Takes a row of an event that is not here into its finding. A later try replaces an
 * earlier one; once GitHub has held one for delivered, the event is a `phantom_ack`.
 */
export function withRow(finding: Finding | undefined, row: HistoryRow, nowMs: number): Finding {
  const kind = isAcknowledged(row) ? "phantom_ack" : "remote_failure";
  const { id: rowId, guid, deliveredAtMs, event, action, statusCode } = row;
  const seen = { rowId, deliveredAtMs, event, action, statusCode };
  if (finding === undefined) return { guid, kind, ...seen, foundAtMs: nowMs, tries: 0 };
  return {
    ...finding,
    kind: finding.kind === "phantom_ack" ? finding.kind : kind,
    ...(deliveredAtMs > finding.deliveredAtMs ? seen : {}),
  };
}

export type RepairStep =
  | { do: "ask" }
  | { do: "wait"; untilMs: number }
  | { do: "leave"; finding: Finding };

/** What to do now for an event that is not here. */
export function repairStep(finding: Finding, nowMs: number): RepairStep {
  if (finding.open !== undefined) return { do: "leave", finding };
  if (finding.deliveredAtMs < nowMs - HISTORY_MS) return left(finding, "too_old");
  if (finding.tries === 0) return { do: "ask" };
  const untilMs = (finding.firstTriedAtMs ?? nowMs) + (REPAIR_AT_MS[finding.tries] ?? 0);
  if (finding.tries >= REPAIR_AT_MS.length) return left(finding, "exhausted");
  return untilMs <= nowMs ? { do: "ask" } : { do: "wait", untilMs };
}

const left = (finding: Finding, open: OpenReason): RepairStep => ({
  do: "leave",
  finding: { ...finding, open },
});

/** The finding with one more try, recorded before it is made. */
export function tried(finding: Finding, nowMs: number): Finding {
  return {
    ...finding,
    tries: finding.tries + 1,
    firstTriedAtMs: finding.firstTriedAtMs ?? nowMs,
    lastTriedAtMs: nowMs,
  };
}

/** An operator asks for a fresh round; what GitHub no longer has stays as it is. */
export function reopened(finding: Finding): Finding {
  if (finding.open !== "exhausted") return finding;
  const { open: _, firstTriedAtMs: __, ...rest } = finding;
  return { ...rest, tries: 0 };
}
