import { Hono } from "hono";
import type { Clock } from "../lib/ports.ts";
import type { Kv } from "../lib/store/kv.ts";
import { ping } from "../lib/store/ping.ts";
import { LIMITS } from "../lib/limits.ts";

interface Parts {
  store: { kv: Kv };
  clock: Clock;
  schedule: { sweptAtMs: number };
  isStopping: () => boolean;
}

const READ_MS = 3_000;
/** A scheduler that has not looked for so long is stuck. */
const LATE_MS = 3 * LIMITS.sweepMs;

/** `GET /`, `/healthz` (the process lives) and `/readyz` (it can do its work). */
export function healthRoutes(parts: Parts): Hono {
  const app = new Hono();
  app.get("/", (context) => context.json({ status: "ok" }));
  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/readyz", async (context) => {
    const reason = await unreadiness(parts);
    return reason === undefined
      ? context.json({ status: "ready" })
      : context.json({ status: "unready", reason }, 503);
  });
  return app;
}

async function unreadiness(
  { store, clock, schedule, isStopping }: Parts,
): Promise<string | undefined> {
  if (isStopping()) return "stopping";
  if (!await answers(store.kv, clock)) return "store does not answer";
  if (clock.monotonicMs() - schedule.sweptAtMs > LATE_MS) return "scheduler is late";
  return undefined;
}

async function answers(kv: Kv, clock: Clock): Promise<boolean> {
  let cancel = () => {};
  const timeout = new Promise<boolean>((resolve) => {
    cancel = clock.after(READ_MS, () => resolve(false));
  });
  const reading = ping(kv).then(() => true, () => false);
  return await Promise.race([reading, timeout]).finally(cancel);
}
