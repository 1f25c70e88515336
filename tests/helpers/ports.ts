/** Below the ranges from which systems give out ports by themselves (Linux: 32768, others 49152). */
const FIRST = 10_000;
const LAST = 32_000;

/**
 * A port of 127.0.0.1 where nobody listens, and which nobody is given by chance: for a target
 * that is down, and for what must know its port beforehand.
 */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    try {
      using listener = Deno.listen({ hostname: "127.0.0.1", port });
      return listener.addr.port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
