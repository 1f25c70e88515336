import type { Trouble } from "../../decide/github/answer.ts";
import { type Finding, withRow } from "../../decide/github/finding.ts";
import {
  clockSkewMs,
  type HistoryRow,
  nextCursor,
  readHistory,
} from "../../decide/github/history.ts";
import {
  afterPage,
  currentScan,
  rowsToJudge,
  type Scan,
  withoutScan,
} from "../../decide/github/scan.ts";
import { isHere, readFindings } from "../../store/watch.ts";
import { ask, type Pass } from "./ask.ts";

export type Polled =
  /** `isUnfinished`: there are further pages down to the watermark. */
  | { kind: "read"; isUnfinished: boolean }
  | { kind: "trouble"; trouble: Trouble }
  | { kind: "held" }
  | { kind: "lost" };

const PAGES = 5;
const ROWS_A_PAGE = 100;

/**
 * Reads what is new in the history, newest first, and notes what is not here. Each page is
 * judged and stored with its place before the next is asked for, so a crash or a failed
 * page costs at most one page read twice, never one skipped.
 */
export async function poll(pass: Pass): Promise<Polled> {
  for (let page = 0; page < PAGES; page++) {
    const polled = await readPage(pass);
    if (polled.kind !== "read" || !polled.isUnfinished) return polled;
  }
  return { kind: "read", isUnfinished: true };
}

async function readPage(pass: Pass): Promise<Polled> {
  const { held, clock, source, graceMs } = pass;
  const scan = currentScan(held.row.progress, clock.nowMs(), graceMs);
  const asked = await ask(pass, { method: "GET", path: pagePath(source.deliveriesPath, scan) });
  if (asked.kind === "trouble") return failed(pass, asked.trouble);
  if (asked.kind === "held") return asked;
  const { status, headers, data } = asked.response;
  const rows = readHistory(data, clockSkewMs(headers.date, clock.nowMs()));
  if (rows === undefined) return failed(pass, { kind: "unexpected", status });
  const missing = await findingsOf(pass, rowsToJudge(rows, scan, held.row.progress));
  const progress = afterPage(held.row.progress, scan, rows, nextCursor(headers.link));
  const checkedAtMs = clock.nowMs();
  held.row = { ...held.row, progress, checkedAtMs };
  if (!await held.save({ set: missing })) return { kind: "lost" };
  return { kind: "read", isUnfinished: progress.scan !== undefined };
}

function pagePath(path: string, { cursor }: Scan): string {
  const query = new URLSearchParams({ per_page: String(ROWS_A_PAGE) });
  if (cursor !== undefined) query.set("cursor", cursor);
  return `${path}?${query}`;
}

/** A cursor that GitHub takes no more would be refused for ever: the scan starts anew. */
function failed({ held }: Pass, trouble: Trouble): Polled {
  if (trouble.kind === "unexpected") {
    held.row = { ...held.row, progress: withoutScan(held.row.progress) };
  }
  return { kind: "trouble", trouble };
}

/** The findings that the rows make or change: those of events that are not here. */
async function findingsOf(pass: Pass, rows: readonly HistoryRow[]): Promise<Finding[]> {
  const { store, source: { endpoint }, clock, log } = pass;
  const guids = [...new Set(rows.map(({ guid }) => guid))];
  const here = await Promise.all(guids.map((guid) => isHere(store, endpoint, guid)));
  const missing = guids.filter((_, index) => !here[index]);
  const known = await readFindings(store, endpoint, missing);
  return missing.map((guid) => {
    const before = known.get(guid);
    const finding = rows.filter((row) => row.guid === guid)
      .reduce<Finding | undefined>((found, row) => withRow(found, row, clock.nowMs()), before)!;
    const { kind, event, statusCode } = finding;
    if (before === undefined) {
      log("warn", "github_finding", { endpoint, guid, kind, githubEvent: event, statusCode });
    }
    return finding;
  });
}
