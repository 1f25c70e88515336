import type { Config } from "../config.ts";
import type { Log } from "../ports.ts";
import { Committer } from "../store/commit.ts";
import type { Store } from "../store/kv.ts";
import { bringUp } from "../store/migrate.ts";
import { withReadLimit } from "../store/read_limit.ts";
import { clock } from "./clock.ts";
import { DEV_DIR } from "./dev.ts";
import { checkWritable, diskOf, isFile } from "./disk.ts";
import { fail } from "./settings.ts";

/** Set by Deno Deploy, which assigns the database itself. */
const DEPLOY_MARKS = ["DENO_DEPLOYMENT_ID", "DENO_DEPLOY"];
const KV_FILE = `${DEV_DIR}/holdfast.db`;

/**
 * Opens the store: the configured one, Deploy's, or a file beside the program. Brings it to
 * this program's format first, or ends the program with 1 where it cannot be used.
 */
export async function openStore({ kvPath }: Config, log: Log): Promise<Store> {
  const onDeploy = DEPLOY_MARKS.some((name) => Deno.env.get(name) !== undefined);
  const path = kvPath ?? (onDeploy ? undefined : KV_FILE);
  const file = path !== undefined && isFile(path) ? path : undefined;
  const asked = `KV_PATH is ${path ?? "not set"}`;
  try {
    if (path === KV_FILE) await Deno.mkdir(DEV_DIR, { recursive: true });
    if (file !== undefined) checkWritable(file);
    const kv = withReadLimit(await Deno.openKv(path), clock);
    const disk = file === undefined ? undefined : diskOf(file, clock);
    const store = { kv, committer: new Committer(kv, clock), clock, disk };
    // A file that cannot be used is often found out only by the first read.
    const fault = await bringUp(store, log);
    return fault === undefined ? store : fail([`cannot use the store: ${asked}: ${fault}`]);
  } catch (error) {
    const room = file !== undefined && diskOf(file, clock).isShort() ? "; its disk is full" : "";
    return fail([`cannot open the store: ${asked}: ${(error as Error).message}${room}`]);
  }
}
