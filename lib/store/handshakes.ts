import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";

/** What a sender's last handshake has for the operator: a URL to confirm, a key to keep. */
export interface HandshakeReport {
  atMs: number;
  report: string;
}

const REPORT_CHARS = 4_096;

/**
 * Keeps the last report of an endpoint, cut where a stranger made it long. It may hold a key:
 * never for the log. Rejects with `StoreUnavailable`; the sender then tries its handshake again.
 */
export async function saveHandshake(
  store: Store,
  endpoint: string,
  { atMs, report }: HandshakeReport,
): Promise<void> {
  const key = keys.handshake(endpoint);
  const value: HandshakeReport = { atMs, report: report.slice(0, REPORT_CHARS) };
  await store.committer.commit({
    checks: [],
    mutations: [{ type: "set", key, value }],
    bytes: 2 * REPORT_CHARS,
  });
}

/** The last report of an endpoint. */
export async function readHandshake(
  store: Store,
  endpoint: string,
): Promise<HandshakeReport | undefined> {
  return (await store.kv.get<HandshakeReport>(keys.handshake(endpoint))).value ?? undefined;
}
