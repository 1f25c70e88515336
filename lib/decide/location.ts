const MAX_CHARS = 200;

/**
 * A redirect's destination, fit to be shown: without its query, and with every path
 * segment masked that the target's own URL has too, since a target URL may hold a token.
 */
export function maskLocation(location: string, targetUrl: string): string {
  const own = new Set(
    new URL(targetUrl).pathname.split("/").filter((segment) => segment.length > 2),
  );
  const path = location.split(/[?#]/, 1)[0].replace(/\/\/[^/@]*@/, "//");
  const masked = path.split("/").map((segment) => own.has(segment) ? "…" : segment).join("/");
  return masked.replace(/[^\x20-\x7e…]/g, "?").slice(0, MAX_CHARS);
}
