import type { Mutation } from "./write.ts";

/** Brings the rows below one prefix from one format of the store to the next. */
export interface Migration {
  /** What it does, for the log. */
  name: string;
  prefix: Deno.KvKey;
  /**
   * What is to be written for one row; nothing where it may stay as it is. Row and progress
   * are committed together, so each row comes by once, however often the pass is interrupted;
   * but a row that this itself writes further on below the prefix comes by, too. The clock
   * and chance are not for it: the rows say all.
   */
  change(row: Deno.KvEntry<unknown>): readonly Mutation[];
}

/**
 * All steps in order: the first leads from format 1, the one of release 0.1, to format 2, and
 * so on. Steps are only ever added: a store of any earlier release must find its way.
 */
export const MIGRATIONS: readonly Migration[] = [];
