import { Client } from "undici";
import type { Destination, Dial } from "./connector.ts";
import { DialFailure } from "./failure_code.ts";

const CLIENT = {
  // One request at a time, and undici's own clocks off: an attempt has one time limit.
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
  // What Node's own parser takes by default.
  maxHeaderSize: 16 * 1024,
  // Idle sockets close after 4 s, and a second before the target says it closes them.
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 4_000,
  keepAliveTimeoutThreshold: 1_000,
} as const;

/**
 * One connection to a target, taken by one request at a time. It dials when the first
 * request comes; should the socket close before a later one is written, it dials again.
 */
export class Connection {
  /** Requests written to the present socket. */
  uses = 0;
  /** When the last exchange ended, on the monotonic clock, and how long it then lay idle. */
  freeAtMs = 0;
  idleMs = 0;
  readonly client: Client;
  readonly #dialling = new AbortController();

  /** `onClosed` runs whenever a socket of this connection has closed. */
  constructor(origin: string, to: Destination, dial: Dial, onClosed: () => void) {
    this.client = new Client(origin, {
      ...CLIENT,
      connect: (_, callback) => {
        dial(to, this.#dialling.signal).then((dialled) => {
          if ("code" in dialled) return callback(new DialFailure(dialled.code), null);
          // undici would dial again, and again, a socket that is closed already.
          if (dialled.socket.destroyed) return callback(new DialFailure("reset"), null);
          this.uses = 0;
          callback(null, dialled.socket);
        }, (error) => callback(error, null));
      },
    });
    this.client.on("disconnect", onClosed);
  }

  /** Closes the socket, whatever it is doing. */
  destroy(): Promise<void> {
    this.#dialling.abort();
    return this.client.destroy();
  }
}
