import { LIMITS } from "../limits.ts";
import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";

/** The lane's theoretical arrival time: when its next attempt is free to start. */
interface RateRow {
  freeAtMs: number;
}

/** Attempts that may start together after a quiet time, as a share of one second's. */
const BURST_SHARE = 0.1;

/**
 * Reserves up to `wanted` attempts of a lane that may make `perSecond`, over all
 * processes (a token bucket in its arrival-time form, GCRA, ITU-T I.371). Returns how
 * many were granted and, where it was less than wanted, when the next one is free.
 */
export async function reserveAttempts(
  store: Store,
  endpoint: string,
  perSecond: number,
  wanted: number,
): Promise<{ granted: number; nextAtMs: number }> {
  const key = keys.rate(endpoint);
  const gapMs = 1_000 / perSecond;
  const burst = Math.max(1, Math.floor(perSecond * BURST_SHARE));
  for (;;) {
    const nowMs = store.clock.nowMs();
    const entry = await store.kv.get<RateRow>(key);
    const stored = entry.value?.freeAtMs ?? 0;
    // A time further ahead than the burst is that of a clock which has been stepped back
    // since, or of another process's wrong one: it must not hold the lane until then.
    const wrong = stored > nowMs + gapMs * burst + LIMITS.clockErrorMs;
    const freeAtMs = wrong ? nowMs + gapMs * (burst - 1) : Math.max(nowMs, stored);
    const room = Math.max(0, Math.floor((nowMs + gapMs * burst - freeAtMs) / gapMs + 1e-9));
    const granted = Math.min(wanted, room);
    const nextAtMs = freeAtMs + gapMs * granted - gapMs * (burst - 1);
    if (granted === 0) return { granted, nextAtMs };
    const result = await store.committer.commit({
      checks: [{ key, versionstamp: entry.versionstamp }],
      mutations: [{ type: "set", key, value: { freeAtMs: freeAtMs + gapMs * granted } }],
      bytes: 32,
    });
    if (result.ok) return { granted, nextAtMs };
  }
}
