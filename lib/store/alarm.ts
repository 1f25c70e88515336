import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";

/** An alarm's key outlives its second by this, for clocks that differ. */
const MARGIN_MS = 60_000;

/**
 * Enqueues the one message that wakes somebody in `second`; where another process has
 * done so already, nothing happens. Rejects where the store has no queue.
 */
export async function setAlarm(store: Store, second: number, nowMs: number): Promise<void> {
  const delay = Math.max(0, second * 1_000 - nowMs);
  await store.kv.atomic()
    .check({ key: keys.alarm(second), versionstamp: null })
    .set(keys.alarm(second), 0, { expireIn: delay + MARGIN_MS })
    // A message that finds no listener is not worth a second try: the due index is the truth.
    .enqueue({ wake: second }, { delay, backoffSchedule: [] })
    .commit();
}

/** Sends a message to ourselves, to learn whether the platform has a queue. */
export async function tryQueue(store: Store): Promise<void> {
  const sent = await store.kv.enqueue({ wake: 0 }, { backoffSchedule: [] });
  if (!sent.ok) throw new Error("cannot enqueue: the store refused");
}

/** Calls `onMessage` for every message. Resolves when the store is closed; rejects where it has no queue. */
export function listenAlarms(store: Store, onMessage: () => void): Promise<void> {
  return store.kv.listenQueue(onMessage);
}
