import { LIMITS } from "../../../lib/limits.ts";
import type { Answered } from "../posts.ts";
import type { Scene } from "./scene.ts";

/** Rows of a staged body that are written together (`lib/store/staging.ts`). */
const GROUP_BYTES = 4 * LIMITS.chunkBytes;
/** Both tries at the store, and looking for what is overdue. */
const BUDGET_MS = LIMITS.storeTries * (LIMITS.storeTryMs + LIMITS.storePauseMs) + 500;
/** Taking a staged body back may hold up the answer for so long. */
const DISCARD_MS = 1_000;

/** A sender has its answer within the store's budget; each part of a large body has its own. */
export function answersInTime(
  { violated }: Scene,
  { event: { id, bytes }, tookMs }: Answered,
): void {
  const staged = bytes > LIMITS.inlineBodyBytes;
  const partsMs = staged ? Math.ceil(bytes / GROUP_BYTES) * LIMITS.storeTryMs + DISCARD_MS : 0;
  if (tookMs > BUDGET_MS + partsMs) violated("answer", `${id} had its answer after ${tookMs} ms`);
}
