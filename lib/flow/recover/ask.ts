import { breakerAfter, mayProbe } from "../../decide/breaker.ts";
import {
  breakerResult,
  GITHUB_BREAKER,
  type GithubResponse,
  type Trouble,
  troubleOf,
} from "../../decide/github/answer.ts";
import type { Clock, Log } from "../../ports.ts";
import type { Store } from "../../store/kv.ts";
import type { AskGithub, GithubRequest } from "./client.ts";
import type { HeldWatch } from "./held_watch.ts";
import type { Source } from "./source.ts";

/** What one pass works with. */
export interface Pass {
  store: Store;
  clock: Clock;
  log: Log;
  owner: string;
  source: Source;
  held: HeldWatch;
  askGithub: AskGithub;
  /** Aborted when the relay stops. */
  signal: AbortSignal;
  publicUrl?: string;
  graceMs: number;
  intervalMs: number;
  /** Whether this process's store has been without trouble lately. */
  isStoreHealthy: () => boolean;
}

export type Asked =
  | { kind: "answer"; response: GithubResponse }
  | { kind: "trouble"; trouble: Trouble }
  /** Nothing was asked, or the relay stops. */
  | { kind: "held" };

const HELD: Asked = { kind: "held" };
const PROBE_LEASE_MS = 60_000;

/**
 * Asks GitHub, through the hook's breaker: nothing is sent while it is open, and one probe
 * once its time is over. The breaker is stored with the pass's next write.
 */
export async function ask(pass: Pass, request: GithubRequest): Promise<Asked> {
  const { held, clock, owner, signal } = pass;
  // The breaker counts distinct things that failed.
  const deliveryId = `${clock.nowMs()} ${request.path}`;
  if (signal.aborted || !probe(pass, deliveryId)) return HELD;
  const answer = await pass.askGithub(request, signal);
  if (signal.aborted) return HELD;
  const atMs = clock.nowMs();
  const result = breakerResult(answer, atMs);
  const event = { type: "attempt", deliveryId, atMs, result, owner } as const;
  held.row = { ...held.row, breaker: breakerAfter(held.row.breaker, event, GITHUB_BREAKER) };
  const trouble = troubleOf(answer);
  if (trouble !== undefined) return { kind: "trouble", trouble };
  return "code" in answer ? HELD : { kind: "answer", response: answer };
}

/** Whether the breaker lets a request through; takes its probe where it is open. */
function probe({ held, clock, owner }: Pass, deliveryId: string): boolean {
  const { breaker } = held.row;
  const atMs = clock.nowMs();
  if (breaker.phase === "closed") return true;
  if (!mayProbe(breaker, atMs)) return false;
  const event = { type: "probe", owner, deliveryId, atMs, leaseMs: PROBE_LEASE_MS } as const;
  held.row = { ...held.row, breaker: breakerAfter(breaker, event, GITHUB_BREAKER) };
  return true;
}
