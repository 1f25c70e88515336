import { HISTORY_MS } from "../../github_settings.ts";
import type { HistoryRow } from "./history.ts";

/** A look through the history from its newest row down to the watermark. */
export interface Scan {
  /** Rows younger than this belong to the next scan. Becomes the watermark at the end. */
  topMs: number;
  /** The page to go on with; absent at the start. */
  cursor?: string;
}

/** How far the history has been judged. Persisted; it only grows. */
export interface Progress {
  /** What was there before this store is taken as handled. */
  baselineMs: number;
  /** Every row up to here has been judged. */
  watermarkMs: number;
  /** A scan that is not through yet; the next pass goes on with it. */
  scan?: Scan;
  /** Part of the history that GitHub had dropped before it could be read. */
  unseen?: { fromMs: number; untilMs: number };
}

/** A first pass takes the history before `startedAtMs` as handled. */
export function freshProgress(startedAtMs: number): Progress {
  return { baselineMs: startedAtMs, watermarkMs: startedAtMs };
}

/**
 * Rows are listed in the order of their tries, times are of their answers: a slow one lies
 * below a quicker, later one. So much below the watermark is looked at again.
 */
const OVERLAP_MS = 60_000;

/** Rows at or below this have been judged. */
export function floorMs({ baselineMs, watermarkMs }: Progress): number {
  return Math.max(baselineMs, watermarkMs - OVERLAP_MS);
}

/** The scan to go on with, or a new one that ends where the grace begins. */
export function currentScan({ scan }: Progress, nowMs: number, graceMs: number): Scan {
  return scan ?? { topMs: nowMs - graceMs };
}

/** The rows of a page that this scan has to judge. */
export function rowsToJudge(
  rows: readonly HistoryRow[],
  scan: Scan,
  progress: Progress,
): HistoryRow[] {
  const floor = floorMs(progress);
  return rows.filter(({ deliveredAtMs }) => deliveredAtMs > floor && deliveredAtMs <= scan.topMs);
}

/**
 * The progress once a page has been judged. The watermark moves only with a page that
 * reaches it, or with the history's last one, so never past a page that was not read.
 */
export function afterPage(
  progress: Progress,
  scan: Scan,
  rows: readonly HistoryRow[],
  cursor: string | undefined,
): Progress {
  const floor = floorMs(progress);
  const reached = rows.some(({ deliveredAtMs }) => deliveredAtMs <= floor);
  if (!reached && cursor !== undefined) return { ...progress, scan: { ...scan, cursor } };
  const { scan: _, ...rest } = progress;
  const oldestMs = scan.topMs - HISTORY_MS;
  return {
    ...rest,
    watermarkMs: Math.max(progress.watermarkMs, scan.topMs),
    ...(progress.watermarkMs < oldestMs
      ? { unseen: { fromMs: progress.watermarkMs, untilMs: oldestMs } }
      : {}),
  };
}

/** The progress without its unfinished scan: the next one starts from the newest row. */
export function withoutScan({ scan: _, ...rest }: Progress): Progress {
  return rest;
}
