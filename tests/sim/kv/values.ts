/** A copy as storing and reading makes one: nothing is shared with the original. */
export function copyOf<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Deno.KvU64) return value;
  if (value instanceof Uint8Array) return value.slice();
  if (Array.isArray(value)) return value.map(copy);
  const made: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) made[name] = copy(item);
  return made;
}

/** About what a stored value takes. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + 4;
  if (typeof value !== "object" || value === null) return 9;
  if (value instanceof Deno.KvU64) return 8;
  if (value instanceof Uint8Array) return value.byteLength + 16;
  let bytes = 8;
  for (const [name, item] of Object.entries(value)) bytes += name.length + 2 + sizeOf(item);
  return bytes;
}
