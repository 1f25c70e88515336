import type { Config } from "../config.ts";

type Settings = Pick<Config, "endpoints" | "relay" | "adminToken" | "oauth" | "privateTargets">;

/** What starts, but serves nobody, lets nobody in, or can never reach its target. */
export async function startWarnings(settings: Settings): Promise<string[]> {
  const { endpoints, relay, adminToken, oauth, privateTargets } = settings;
  const warnings: string[] = [];
  if (endpoints.size === 0 && relay === undefined) {
    warnings.push("no endpoint is configured: every request for /hook/… is answered 404");
  }
  if (adminToken === undefined && oauth === undefined) {
    warnings.push("ADMIN_TOKEN is not set: API, admin page and metrics answer 503");
  }
  for (const { id, targetUrl } of endpoints.values()) {
    if (!await isBlocked(targetUrl, privateTargets)) continue;
    warnings.push(
      `endpoint "${id}": targetUrl is a private address that ALLOW_PRIVATE_TARGETS does not ` +
        "have: every attempt will be blocked_address",
    );
  }
  return warnings;
}

/** Few targets are addresses: what reads them loads only where one is. */
async function isBlocked(
  targetUrl: string,
  privateTargets: Settings["privateTargets"],
): Promise<boolean> {
  const address = writtenAddress(targetUrl);
  if (address === undefined || privateTargets === true) return false;
  const { mayConnect } = await import("../decide/address.ts");
  return !mayConnect(address, privateTargets);
}

/** The address that a target's host is, where it is no name that has to be resolved. */
function writtenAddress(targetUrl: string): string | undefined {
  const { hostname } = new URL(targetUrl);
  if (hostname === "localhost") return "127.0.0.1";
  if (hostname.startsWith("[")) return hostname.slice(1, -1);
  return /^\d+\.\d+\.\d+\.\d+$/.test(hostname) ? hostname : undefined;
}
