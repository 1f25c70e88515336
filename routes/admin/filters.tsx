import { type ListQuery, listQuery } from "../operator/query.ts";

/** Filters of a list as the page's address has them. */
export interface Filters {
  /** Those that are set, as written. */
  given: Record<string, string>;
  query?: ListQuery;
  /** Why they cannot be used. */
  fault?: string;
}

const NAMES = ["endpoint", "state", "reason", "event_id", "since", "until", "cursor"];

/** Reads filters; empty ones count as absent, since forms send them all. */
export function readFilters(query: Record<string, string>, fixed: Record<string, string> = {}) {
  const given = Object.fromEntries(
    NAMES.map((name) => [name, query[name]?.trim() ?? ""]).filter(([, value]) => value !== ""),
  );
  const filters: Filters = { given };
  const parsed = listQuery.safeParse({ ...given, ...timesOf(given), ...fixed });
  if (parsed.success) filters.query = parsed.data;
  else {
    const [{ path, message }] = parsed.error.issues;
    filters.fault = `Cannot filter: ${path.join(".")} ${message}.`;
  }
  return filters;
}

/** A date and time field has no zone; the page says that it is UTC. */
function timesOf(given: Record<string, string>): Record<string, string> {
  const times = ["since", "until"].filter((name) => /T\d\d:\d\d(:\d\d)?$/.test(given[name] ?? ""));
  return Object.fromEntries(times.map((name) => [name, `${given[name]}Z`]));
}

/** The API's query for the same filters, without the place in the list. */
export function apiQuery({ given }: Filters): string {
  const { cursor: _, ...rest } = given;
  return new URLSearchParams({ ...rest, ...timesOf(rest) }).toString();
}

/** The address of the same list at another place. */
export function listHref(path: string, { given }: Filters, cursor?: string): string {
  const { cursor: _, ...rest } = given;
  const query = new URLSearchParams(cursor === undefined ? rest : { ...rest, cursor }).toString();
  return query === "" ? path : `${path}?${query}`;
}

interface SelectProps {
  name: string;
  label: string;
  value?: string;
  options: readonly string[];
}

/** A choice among known values, or any. */
export function Select({ name, label, value, options }: SelectProps) {
  return (
    <label>
      {label}
      <select name={name}>
        <option value="">any</option>
        {options.map((option) => (
          <option key={option} value={option} selected={option === value}>
            {option.replace("_", " ")}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A span of time in UTC. */
export function TimeSpan({ since, until }: { since?: string; until?: string }) {
  return (
    <>
      <label>
        Since (UTC)
        <input type="datetime-local" name="since" value={localOf(since)} />
      </label>
      <label>
        Until (UTC)
        <input type="datetime-local" name="until" value={localOf(until)} />
      </label>
    </>
  );
}

const localOf = (text: string | undefined) => text?.replace(/(\.\d+)?Z$/, "");
