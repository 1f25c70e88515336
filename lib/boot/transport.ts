import type { Transport, TransportOptions } from "../flow/transport.ts";

/**
 * The transport, loaded when it is first used: its HTTP client is the longest part of a cold
 * start, and the first sender waits for the store alone. A failed load is tried again.
 */
export function transportOnFirstUse(options: TransportOptions): Transport {
  let loading: Promise<Transport> | undefined;
  const load = () =>
    loading ??= import("../flow/transport.ts")
      .then(({ createTransport }) => createTransport(options))
      .catch((error) => {
        loading = undefined;
        throw error;
      });
  return {
    send: async (out) => await (await load()).send(out),
    knock: async (origin, timeoutMs) => await (await load()).knock(origin, timeoutMs),
    close: async () => await (await loading)?.close(),
  };
}
