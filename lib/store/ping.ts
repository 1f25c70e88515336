import type { Kv } from "./kv.ts";

/** Reads one row. Rejects where the store does not answer. */
export async function ping(kv: Pick<Kv, "get">): Promise<void> {
  await kv.get(["lane"]);
}
