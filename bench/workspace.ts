/** Runs `body` with a folder for its stores, and removes it afterwards. */
export async function inFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "holdfast-bench-" });
  try {
    return await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
