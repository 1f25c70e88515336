import { disabled, enabled } from "./health.ts";
import type { LaneRow } from "./lane.ts";

export type LaneAction = "pause" | "resume" | "enable" | "disable";

/** A lane's row after an operator's word; the same row where nothing changes. */
export function operated(row: LaneRow, action: LaneAction, nowMs: number): LaneRow {
  switch (action) {
    case "pause":
      return row.pausedAtMs === undefined ? { ...row, pausedAtMs: nowMs } : row;
    case "resume":
      return resumed(row);
    case "disable":
      return row.health.disabledBy === "operator"
        ? row
        : { ...row, health: { ...disabled(row.health), disabledAtMs: nowMs } };
    case "enable":
      return row.health.status === "enabled" ? row : { ...row, health: enabled() };
  }
}

function resumed(row: LaneRow): LaneRow {
  if (row.pausedAtMs === undefined) return row;
  const { pausedAtMs: _, ...rest } = row;
  return rest;
}

/**
 * A lane's row after a test event got through: a disabled lane is enabled. An open breaker
 * stays open, since a test is no delivery; but its next probe may start now, unless the
 * target itself asked to wait.
 */
export function testedWell(row: LaneRow, nowMs: number): LaneRow {
  const { breaker, health } = row;
  const early = breaker.phase === "open" && breaker.cause !== "rate_limit" &&
    (breaker.openUntilMs ?? 0) > nowMs;
  if (!early && health.status !== "disabled") return row;
  return {
    ...row,
    health: health.status === "disabled" ? enabled() : health,
    breaker: early ? { ...breaker, openUntilMs: nowMs } : breaker,
  };
}
