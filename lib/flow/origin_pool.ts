import type { Clock } from "../ports.ts";
import { Connection } from "./connection.ts";
import type { Destination, Dial } from "./connector.ts";

/** The connections to one origin. Each is idle, or out with an exchange. */
export class OriginPool {
  readonly #origin: string;
  readonly #destination: Destination;
  readonly #dial: Dial;
  readonly #clock: Clock;
  readonly #onEmpty: () => void;
  readonly #all = new Set<Connection>();
  readonly #idle: Connection[] = [];
  #closed = false;

  /** `onEmpty` runs when the last connection is gone. */
  constructor(origin: string, dial: Dial, clock: Clock, onEmpty: () => void) {
    this.#origin = origin;
    this.#destination = destinationOf(origin);
    this.#dial = dial;
    this.#clock = clock;
    this.#onEmpty = onEmpty;
  }

  /** The connection used last, so that spare ones may grow old and close; else a new one. */
  take(): Connection {
    const connection = this.#idle.pop();
    if (connection === undefined) return this.open();
    connection.idleMs = this.#clock.monotonicMs() - connection.freeAtMs;
    return connection;
  }

  /** A connection that has carried nothing yet. */
  open(): Connection {
    const connection = new Connection(
      this.#origin,
      this.#destination,
      this.#dial,
      () => this.#socketClosed(connection),
    );
    this.#all.add(connection);
    return connection;
  }

  /** The exchange is complete, the connection may carry the next one. */
  release(connection: Connection): void {
    if (!this.#all.has(connection)) return;
    connection.freeAtMs = this.#clock.monotonicMs();
    this.#idle.push(connection);
  }

  /** Closes a connection for good. */
  drop(connection: Connection): void {
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    if (!this.#all.delete(connection)) return;
    connection.destroy();
    if (this.#all.size === 0) this.#onEmpty();
  }

  /** Whether failures are our own doing. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Closes all connections, whatever they are doing. */
  async close(): Promise<void> {
    this.#closed = true;
    const connections = [...this.#all];
    this.#all.clear();
    this.#idle.length = 0;
    await Promise.all(connections.map((connection) => connection.destroy()));
  }

  /** A socket closed. While a request is out, that is the exchange's business. */
  #socketClosed(connection: Connection): void {
    if (this.#idle.includes(connection)) this.drop(connection);
  }
}

/** Where an origin's connections go. */
export function destinationOf(origin: string): Destination {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === "https:";
  return {
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (secure ? 443 : 80) : Number(port),
    secure,
  };
}
