import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { LIMITS } from "../limits.ts";
import type { Clock } from "../ports.ts";
import type { Disk } from "../store/kv.ts";

/** A look costs a few microseconds; nobody fills the reserve in this time. */
const LOOK_MS = 100;

/** Whether KV_PATH names a file, not a server or memory. */
export const isFile = (path: string): boolean => !/^https?:/i.test(path) && path !== ":memory:";

/**
 * Rejects what takes no writes: a file, or its file system, that is read-only for this user.
 * SQLite opens one all the same, and fails at the first write.
 */
export function checkWritable(path: string): void {
  try {
    Deno.openSync(path, { write: true }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Bytes left for this user on the disk that the file at `path` is on; `undefined`: unknown. */
function freeBytes(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/**
 * The disk under the store's file. New events stop before it is full: Deno ends the whole
 * process once its own housekeeping of the store (expiry, queue) cannot write.
 */
export function diskOf(path: string, { monotonicMs }: Clock): Disk {
  let lookedAtMs = -Infinity;
  let isShort = false;
  return {
    isShort() {
      if (monotonicMs() - lookedAtMs < LOOK_MS) return isShort;
      lookedAtMs = monotonicMs();
      isShort = (freeBytes(path) ?? Infinity) < LIMITS.diskReserveBytes;
      return isShort;
    },
  };
}
