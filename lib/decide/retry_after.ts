import { LIMITS } from "../limits.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const LONG_DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day";
const MONTH = `(?<month>${MONTHS.join("|")})`;
const TIME = "(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})";

/** The three forms of RFC 9110 §5.6.7: IMF-fixdate, RFC 850, asctime. Case matters there. */
const DATE_FORMS = [
  new RegExp(`^${DAY}, (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY}, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${TIME} GMT$`),
  new RegExp(`^${DAY} ${MONTH} (?<day>\\d{2}| \\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3): whole seconds or an HTTP date. Returns the
 * time in epoch milliseconds before which the target wants no attempt, at most
 * `LIMITS.retryAfterCapMs` from now; `undefined` for nonsense and for times that are not
 * ahead, which bind nothing.
 */
export function parseRetryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.replace(/^[ \t]+|[ \t]+$/g, "");
  const atMs = /^\d+$/.test(text) ? nowMs + Number(text) * 1_000 : parseHttpDateMs(text, nowMs);
  if (atMs === undefined || atMs <= nowMs) return undefined;
  return Math.min(atMs, nowMs + LIMITS.retryAfterCapMs);
}

function parseHttpDateMs(text: string, nowMs: number): number | undefined {
  for (const form of DATE_FORMS) {
    const fields = form.exec(text)?.groups;
    if (fields !== undefined) return dateMs(fields, nowMs);
  }
  return undefined;
}

function dateMs(fields: Record<string, string>, nowMs: number): number | undefined {
  const month = MONTHS.indexOf(fields.month);
  const [day, hour, minute, second] = [fields.day, fields.hour, fields.minute, fields.second].map(
    Number,
  );
  // A leap second (60) is part of the grammar; Date.UTC reads it as the next minute's start.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const year = fields.year.length === 2
    ? fullYear(Number(fields.year), nowMs)
    : Number(fields.year);
  const date = new Date(Date.UTC(year, month, day, hour, minute, second));
  // Date.UTC reads years below 100 as 19xx and rolls 31 February over; neither is a date.
  const midnight = new Date(Date.UTC(year, month, day));
  const exists = midnight.getUTCFullYear() === year && midnight.getUTCDate() === day;
  return exists ? date.getTime() : undefined;
}

/** RFC 9110 §5.6.7: a two-digit year more than 50 years ahead means the past century. */
function fullYear(twoDigits: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  const year = thisYear - thisYear % 100 + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}
