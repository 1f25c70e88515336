import { z } from "./zod.ts";

/** A schema of text that names an entry of a table, and reads as that entry. */
export function knownName<T>(table: Readonly<Record<string, T>>, noun: string) {
  return z.string().transform((name, context): T => {
    if (Object.hasOwn(table, name)) return table[name];
    const known = Object.keys(table).join(", ");
    context.addIssue({ code: "custom", message: `is not a ${noun} (known: ${known})` });
    return z.NEVER;
  });
}
