import { KV } from "../limits.ts";
import type { Log } from "../ports.ts";
import { keys } from "./keys.ts";
import type { Store } from "./kv.ts";
import { type Migration, MIGRATIONS } from "./migrations.ts";
import { FIRST_SCHEMA, readSchema, schemaFault, schemaOf, type SchemaPlace } from "./schema.ts";
import type { Mutation } from "./write.ts";

/** Rows of one commit: with both marks as many checks as any store takes. */
export const BATCH_ROWS = KV.remoteChecks - 2;
/** How often a process looks whether the one that migrates comes forward, and how long it waits. */
const LOOK_MS = 200;
const STALLED_MS = 3_000;

/**
 * Brings a store to this program's format: marks a new one, takes an older one through the
 * steps it lacks. Returns what is wrong where the store is a newer program's.
 *
 * Any number of processes may do so at once. A batch checks the progress it builds on, so of
 * two that try the same one exactly one succeeds; the other waits, and goes on by itself once
 * nothing moves any more. A process that is killed leaves whole batches.
 */
export async function bringUp(
  store: Store,
  log: Log,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string | undefined> {
  const known = schemaOf(migrations);
  const patience = new Patience(store);
  for (;;) {
    const place = await readSchema(store.kv);
    const fault = schemaFault(place.version, known);
    if (fault !== undefined) return fault;
    if (place.version === known && place.isMarked) return undefined;
    if (patience.isWaiting(place)) await patience.rest();
    else if (!await step(store, place, migrations, log)) patience.wait(place);
  }
}

/** One commit towards the program's format. `false`: another process was first. */
function step(
  store: Store,
  place: SchemaPlace,
  migrations: readonly Migration[],
  log: Log,
): Promise<boolean> {
  const migration = migrations[place.version - FIRST_SCHEMA];
  return migration === undefined
    ? commit(store, place.checks, [reached(place.version)])
    : batch(store, place, migration, log);
}

async function batch(
  store: Store,
  { version, cursor, checks }: SchemaPlace,
  { prefix, change, name }: Migration,
  log: Log,
): Promise<boolean> {
  if (cursor === undefined) log("info", "migrating", { from: version, what: name });
  const entries = store.kv.list({ prefix }, { limit: BATCH_ROWS, cursor });
  const rows = await Array.fromAsync(entries);
  const isLast = rows.length < BATCH_ROWS;
  const isWritten = await commit(store, [...checks, ...rows], [
    ...rows.flatMap(change),
    ...(isLast
      ? [reached(version + 1), { type: "delete", key: keys.migration() } as const]
      : [{ type: "set", key: keys.migration(), value: entries.cursor } as const]),
  ]);
  if (isWritten && isLast) log("info", "migrated", { to: version + 1, what: name });
  return isWritten;
}

const reached = (version: number): Mutation => {
  return { type: "set", key: keys.schema(), value: version };
};

async function commit(
  store: Store,
  checks: readonly Deno.AtomicCheck[],
  mutations: Mutation[],
): Promise<boolean> {
  const asked = checks.map(({ key, versionstamp }) => ({ key, versionstamp }));
  return (await store.committer.commit({ checks: asked, mutations, bytes: KV.commitBytes })).ok;
}

/** Waits for another process as long as it comes forward. */
class Patience {
  #watched: { stamps: string; sinceMs: number } | undefined;

  constructor(private readonly store: Store) {}

  wait(place: SchemaPlace): void {
    this.#watched = { stamps: stampsOf(place), sinceMs: this.store.clock.monotonicMs() };
  }

  isWaiting(place: SchemaPlace): boolean {
    if (this.#watched === undefined) return false;
    if (this.#watched.stamps !== stampsOf(place)) this.wait(place);
    if (this.store.clock.monotonicMs() - this.#watched.sinceMs < STALLED_MS) return true;
    this.#watched = undefined;
    return false;
  }

  rest(): Promise<void> {
    return new Promise((resolve) => this.store.clock.after(LOOK_MS, resolve));
  }
}

const stampsOf = ({ checks }: SchemaPlace) =>
  checks.map(({ versionstamp }) => versionstamp).join("/");
