import { keys } from "./keys.ts";
import type { Kv } from "./kv.ts";
import { type Migration, MIGRATIONS } from "./migrations.ts";

/** The format of a store without a mark: release 0.1 wrote none. */
export const FIRST_SCHEMA = 1;

/** The format that a program with these steps reads and writes. */
export const schemaOf = (migrations: readonly Migration[]): number =>
  FIRST_SCHEMA + migrations.length;

/** The format that this program reads and writes. */
export const SCHEMA = schemaOf(MIGRATIONS);

/** Where a store stands. */
export interface SchemaPlace {
  version: number;
  /** Where the step to the next version goes on; absent before its first batch. */
  cursor?: string;
  /** Whether the version is written down. */
  isMarked: boolean;
  /** Both rows as they were read: whoever writes them checks that they still are so. */
  checks: readonly Deno.AtomicCheck[];
}

/** Reads where a store stands, in one call. */
export async function readSchema(kv: Pick<Kv, "getMany">): Promise<SchemaPlace> {
  const [mark, progress] = await kv.getMany<[number, string]>([keys.schema(), keys.migration()]);
  return {
    version: mark.value ?? FIRST_SCHEMA,
    cursor: progress.value ?? undefined,
    isMarked: mark.value !== null,
    checks: [mark, progress].map(({ key, versionstamp }) => ({ key, versionstamp })),
  };
}

/** Says what is wrong with a store that a program of format `known` must not touch. */
export function schemaFault(version: number, known: number): string | undefined {
  const isKnown = Number.isSafeInteger(version) && version >= FIRST_SCHEMA && version <= known;
  if (isKnown) return undefined;
  return `its format is ${version}, this program knows up to ${known}: ` +
    "run the release that wrote it, or restore the backup from before the upgrade";
}
