export interface Forwarding {
  forwardPath: boolean;
  forwardQuery: boolean;
}

/** Where an attempt goes: `origin` to connect to, `path` as it stands in the request line. */
export interface AttemptUrl {
  origin: string;
  path: string;
}

/**
 * Builds an attempt's URL: the target's path and the rest of the sender's, the target's
 * query and the sender's. The sender's bytes are appended as they came, never decoded,
 * sorted or encoded anew. `path` is empty or starts with a slash, `query` has no mark.
 */
export function attemptUrl(
  targetUrl: string,
  path: string,
  query: string,
  { forwardPath, forwardQuery }: Forwarding,
): AttemptUrl {
  const target = new URL(targetUrl);
  const rest = forwardPath ? path : "";
  const base = rest !== "" && target.pathname.endsWith("/")
    ? target.pathname.slice(0, -1)
    : target.pathname;
  const queries = [target.search.slice(1), forwardQuery ? query : ""].filter((q) => q !== "");
  const search = queries.length === 0 ? "" : `?${queries.join("&")}`;
  return { origin: target.origin, path: `${base}${rest}${search}` };
}

/** How backends cut a path: encoded and backward slashes count for some of them. */
const SEPARATORS = [/\//, /\/|\\|%5c/i, /\/|%2f/i, /\/|%2f|\\|%5c/i];

/**
 * Whether the rest of a path would climb above the target's own path at a backend that
 * resolves dot segments. Backends differ, so it climbs if it does in any common reading:
 * with `%2e` for a dot, `%2f` and backslashes for slashes or not, and path parameters
 * (`..;x`) ignored. Runs of slashes count as one.
 */
export function escapesTarget(rest: string): boolean {
  const plain = rest.replace(/%2e/gi, ".");
  return SEPARATORS.some((separator) => climbs(plain.split(separator)));
}

function climbs(segments: readonly string[]): boolean {
  let depth = 0;
  for (const segment of segments) {
    const name = segment.split(";")[0];
    if (name === "..") depth -= 1;
    else if (name !== "" && name !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
