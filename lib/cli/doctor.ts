import { type Complaint, examine } from "../store/doctor.ts";
import { EXIT, Failure } from "./exit.ts";

export { REPAIRS } from "../store/doctor.ts";

/** Opens a store that exists, tells what is broken in it, and closes it again. */
export async function* examineStore(path: string, nowMs: number): AsyncGenerator<Complaint> {
  const isFile = !/^https?:/.test(path);
  // Opening a path that is not there would make a new, healthy store.
  if (isFile && !await exists(path)) {
    throw new Failure(EXIT.usage, `cannot examine the store: there is no file ${path}`);
  }
  const kv = await Deno.openKv(path);
  try {
    yield* examine(kv, nowMs);
  } finally {
    kv.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(({ isFile }) => isFile, () => false);
}
