/** One row of GitHub's delivery history: one try at one event. */
export interface HistoryRow {
  /** Number of the try, as text: it exceeds what a double holds. */
  id: string;
  /** The event's own id; the same over all its tries, and our event id. */
  guid: string;
  /** On our clock. */
  deliveredAtMs: number;
  event: string;
  action?: string;
  /** What GitHub got as an answer; 0 where it got none. */
  statusCode: number;
}

/** Whether GitHub holds the try for delivered. */
export function isAcknowledged({ statusCode }: Pick<HistoryRow, "statusCode">): boolean {
  return statusCode >= 200 && statusCode <= 299;
}

/** Below this the two clocks count as equal: the difference is the answer's way to us. */
const SKEW_MS = 30_000;

/** How far GitHub's clock (its `Date` header) is ahead of ours; 0 for what is only latency. */
export function clockSkewMs(dateHeader: string | undefined, nowMs: number): number {
  const skewMs = Date.parse(dateHeader ?? "") - nowMs;
  return Math.abs(skewMs) > SKEW_MS ? skewMs : 0;
}

/**
 * Reads a page of the history (docs.github.com, REST API, "List deliveries"). `undefined`
 * where the answer is no such list. A row without id, GUID or time is left out.
 */
export function readHistory(data: unknown, skewMs: number): HistoryRow[] | undefined {
  if (!Array.isArray(data)) return undefined;
  return data.map((row: unknown) => readRow(row, skewMs)).filter((row) => row !== undefined);
}

function readRow(data: unknown, skewMs: number): HistoryRow | undefined {
  if (data === null || typeof data !== "object") return undefined;
  const { id, guid, delivered_at, event, action, status_code } = data as Record<string, unknown>;
  const deliveredAtMs = typeof delivered_at === "string" ? Date.parse(delivered_at) - skewMs : NaN;
  const isId = typeof id === "bigint" || typeof id === "number" || typeof id === "string";
  if (!isId || typeof guid !== "string" || guid === "" || Number.isNaN(deliveredAtMs)) {
    return undefined;
  }
  return {
    id: String(id),
    guid,
    deliveredAtMs,
    event: typeof event === "string" ? event : "",
    action: typeof action === "string" ? action : undefined,
    statusCode: typeof status_code === "number" ? status_code : 0,
  };
}

/** The cursor of the next page, from a `Link` header (RFC 8288); `undefined` on the last one. */
export function nextCursor(link: string | undefined): string | undefined {
  const [, url] = /<([^<>]+)>\s*;[^,]*\brel="next"/.exec(link ?? "") ?? [];
  if (url === undefined || !URL.canParse(url)) return undefined;
  return new URL(url).searchParams.get("cursor") ?? undefined;
}
