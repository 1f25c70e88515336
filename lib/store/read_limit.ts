import { StoreUnavailable } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { Clock } from "../ports.ts";
import type { Kv } from "./kv.ts";
import { readsThrough } from "./reads.ts";

/** Reads without an answer, from which on no further one is asked. */
const OVERDUE_READS = 32;

/**
 * A store whose reads end. Over KV Connect the runtime asks a server that is away four times
 * a second, without end; a file on a disk that hangs does not answer either. Each read would
 * wait until the store is back, the drain's too, and add to that. Here one
 * without an answer rejects with `StoreUnavailable` after `limitMs`, and while too many are
 * overdue, further ones do at once. Commits keep their own time (`Committer`).
 */
export function withReadLimit(kv: Kv, clock: Clock, limitMs: number = LIMITS.storeTryMs): Kv {
  let overdue = 0;
  const read = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (overdue >= OVERDUE_READS) {
      throw new StoreUnavailable(`cannot read: ${overdue} reads have had no answer`);
    }
    const { promise: refused, reject } = Promise.withResolvers<never>();
    let isLate = false;
    const cancel = clock.after(limitMs, () => {
      isLate = true;
      overdue++;
      reject(new StoreUnavailable(`cannot read: no answer for ${limitMs} ms`));
    });
    const asked = ask().finally(() => {
      cancel();
      if (isLate) overdue--;
    });
    return await Promise.race([asked, refused]);
  };
  return readsThrough(kv, read);
}
