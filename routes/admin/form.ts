import type { AdminContext } from "./context.ts";

type Form = Record<string, string | File | (string | File)[]>;

/**
 * The fields of a form; with `all` a repeated one is a list, else its last one counts. A body
 * that is no form has none.
 */
export async function formOf(
  { req }: AdminContext,
  options: { all?: boolean } = {},
): Promise<Form> {
  try {
    return await req.parseBody(options);
  } catch {
    // A multipart body whose parts cannot be told apart.
    return {};
  }
}

/** One field of a form as text; a file or a list is none. */
export function fieldOf(form: Form, name: string): string | undefined {
  const value = form[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
