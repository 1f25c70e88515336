import { LIMITS } from "../limits.ts";

/** What can be asked to end: the relay. */
interface Stoppable {
  refuse(): void;
  stop(): Promise<void>;
}

type Handler = (request: Request, remote: Deno.NetAddr) => Promise<Response>;

/** Of the time to stop, so much for requests that are being read, and for closing sockets. */
const BODIES_MS = 3_000;
const SHUTDOWN_MS = 500;
const LOOK_MS = 20;

/**
 * Serves until SIGINT or SIGTERM, then stops within `LIMITS.stopMs` and ends the process
 * with 0. `end` runs last, for what must be written or closed.
 */
export function serve(
  listen: { hostname: string; port: number; onListen: (address: Deno.NetAddr) => void },
  handler: Handler,
  relay: Stoppable,
  end: () => void,
): void {
  let open = 0;
  const server = listenOrEnd(listen, async (request, info) => {
    open++;
    try {
      return await handler(request, info.remoteAddr);
    } finally {
      open--;
    }
  });
  const stop = async () => {
    setTimeout(() => Deno.exit(0), LIMITS.stopMs - 100);
    relay.refuse();
    await Promise.all([relay.stop(), Promise.race([untilNone(() => open), sleep(BODIES_MS)])]);
    await Promise.race([server.shutdown(), sleep(SHUTDOWN_MS)]);
    end();
    Deno.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, stop);
}

function listenOrEnd(
  listen: Parameters<typeof serve>[0],
  handler: Deno.ServeHandler<Deno.NetAddr>,
): Deno.HttpServer<Deno.NetAddr> {
  try {
    return Deno.serve(listen, handler);
  } catch (error) {
    console.error(
      `cannot listen: HOST is ${listen.hostname}, PORT is ${listen.port}: ${
        (error as Error).message
      }`,
    );
    Deno.exit(1);
  }
}

/** A body in transit becomes unreadable once the server shuts down: it is let end first. */
async function untilNone(open: () => number): Promise<void> {
  while (open() > 0) await sleep(LOOK_MS);
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
