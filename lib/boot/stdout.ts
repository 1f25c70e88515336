/** Writes text to standard output as far as that takes it: a full disk must not end a relay. */
export function writeOut(text: string): void {
  const bytes = new TextEncoder().encode(text);
  try {
    for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
  } catch {
    // Nowhere to say so: these lines are lost, the deliveries are not.
  }
}
