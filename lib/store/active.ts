import { isRelayLane } from "../ids.ts";
import { dueAfter } from "./due.ts";
import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";
import { secondParts } from "./list.ts";

/** Lanes with something due, and those that had until just now. */
export async function activeLanes(store: Store): Promise<string[]> {
  const found: string[] = [];
  const rows = store.kv.list({ prefix: keys.actives() }, { batchSize: 500 });
  for await (const { key } of rows) found.push(String(key[1]));
  return found;
}

/** Where a lane's deliveries go; `undefined` for a lane that is none of relay mode's. */
export async function readTarget(store: Store, id: string): Promise<string | undefined> {
  return (await store.kv.get<{ targetUrl: string }>(keys.target(id))).value?.targetUrl;
}

export async function hasDue(store: Store, endpoint: string): Promise<boolean> {
  return (await dueAfter(store, endpoint, -1, 1)).length > 0;
}

/**
 * Removes an idle lane's mark. `false`: something is due in it. Whoever gives it something
 * meanwhile writes the mark anew, and then this one's check fails.
 */
export async function dropActive(store: Store, id: string): Promise<boolean> {
  const key = keys.active(id);
  const { versionstamp } = await store.kv.get(key);
  if (await hasDue(store, id)) return false;
  const { ok } = await store.committer.commit({
    checks: [{ key, versionstamp }],
    mutations: [{ type: "delete", key }],
    bytes: 0,
  });
  return ok;
}

/** Some lanes that have a target, in order, behind `after`. */
export async function lanesWithTarget(
  store: Store,
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const prefix = keys.targets();
  const selector = after === undefined ? { prefix } : {
    prefix,
    start: [...prefix, `${after}\u0000`],
  };
  const found: string[] = [];
  for await (const { key } of store.kv.list(selector, { limit })) found.push(String(key[1]));
  return found;
}

/** Forgets a lane that has neither deliveries nor counters left. */
export async function dropTarget(store: Store, id: string): Promise<void> {
  const [target, active] = await store.kv.getMany([keys.target(id), keys.active(id)]);
  if (active.versionstamp !== null) return;
  for (const prefix of [keys.deliveries(id), keys.stats(id)]) {
    if (!(await store.kv.list({ prefix }, { limit: 1 }).next()).done) return;
  }
  await store.committer.commit({
    checks: [target, active],
    mutations: [{ type: "delete", key: target.key }, { type: "delete", key: keys.lane(id) }],
    bytes: 0,
  });
}

/** Relay lanes that hold something: open deliveries or dead ones. */
export async function relayLanesWithWork(store: Store): Promise<string[]> {
  const [active, dead] = await Promise.all([
    activeLanes(store),
    secondParts(store, keys.allDeads()),
  ]);
  return [...new Set([...active, ...dead.filter(isRelayLane)])];
}
