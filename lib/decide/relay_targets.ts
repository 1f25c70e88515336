import type { TargetPattern } from "../relay_settings.ts";
import { escapesTarget } from "./target_url.ts";

/** A target fit to be shown: its query may be a credential. */
export function shownTarget(targetUrl: string): string {
  const { origin, pathname } = new URL(targetUrl);
  return origin + pathname;
}

/** What a query may hold as it stands; anything else has to be percent-encoded. */
const QUERY = /^(\?[\x21-\x7e]*)?$/;

/**
 * Whether a URL is one of the allowed targets. It must be written in its normal form up to
 * the query, so that what is compared is what is sent: no upper-case host, user name, default
 * port, dot segment, backslash, fragment or encoded letter can stand for something else.
 */
export function isAllowedTarget(text: string, patterns: readonly TargetPattern[]): boolean {
  if (!URL.canParse(text) || text.includes("#")) return false;
  const url = new URL(text);
  const queryAt = text.indexOf("?");
  const place = queryAt < 0 ? text : text.slice(0, queryAt);
  const isNormal = place === url.origin + url.pathname ||
    (url.pathname === "/" && place === url.origin);
  if (!isNormal || !QUERY.test(queryAt < 0 ? "" : text.slice(queryAt))) return false;
  return patterns.some((pattern) => fits(url, pattern));
}

function fits(url: URL, { protocol, port, path, ...host }: TargetPattern): boolean {
  return url.protocol === protocol && url.port === port && fitsHost(url.hostname, host) &&
    fitsPath(url.pathname, path);
}

const LABELS = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

function fitsHost(
  given: string,
  { hostname, anySubdomain }: Pick<TargetPattern, "hostname" | "anySubdomain">,
): boolean {
  if (!anySubdomain) return given === hostname;
  const suffix = `.${hostname}`;
  return given.endsWith(suffix) && LABELS.test(given.slice(0, -suffix.length));
}

/** `/hooks` is itself and what lies below, `/hooks/` only that; nothing may climb out again. */
function fitsPath(given: string, path: string): boolean {
  if (!given.startsWith(path)) return false;
  const rest = given.slice(path.length);
  if (!path.endsWith("/") && rest !== "" && !rest.startsWith("/")) return false;
  return !escapesTarget(rest);
}
