import { createTransport, type Outgoing, type Transport } from "../../lib/flow/transport.ts";
import type { DialOptions } from "../../lib/flow/connector.ts";
import { clock } from "../../lib/boot/clock.ts";
import { pause } from "../helpers/wait.ts";

/** A transport that may dial loopback, for the length of a test. */
export function openTransport(options: Partial<DialOptions> = {}): Transport & AsyncDisposable {
  const transport = createTransport({ privateTargets: true, clock, ...options });
  return {
    ...transport,
    async [Symbol.asyncDispose]() {
      await transport.close();
      // undici leaves a setImmediate behind, which Deno 2.5 counts as an open timer.
      await pause(1);
    },
  };
}

/** A small POST to a host and port. */
export function request(host: string, changes: Partial<Outgoing> = {}): Outgoing {
  return {
    endpoint: "demo",
    origin: `http://${host}`,
    path: "/in",
    method: "POST",
    headers: [],
    body: new TextEncoder().encode("hi"),
    bodyBytes: 2,
    timeoutMs: 10_000,
    ...changes,
  };
}

/** What came of a request, in a word or a number. */
export async function outcome(
  transport: Transport,
  out: Outgoing,
): Promise<number | string> {
  const answer = await transport.send(out);
  return answer.kind === "answer" ? answer.status : answer.code;
}
