import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { FailureCode, HeaderList } from "../model.ts";
import type { Clock } from "../ports.ts";
import type { Connection } from "./connection.ts";
import { createDial, type Dial, type DialOptions } from "./connector.ts";
import { type Broken, Exchange, type Head } from "./exchange.ts";
import { BodyFailure, failureCode } from "./failure_code.ts";
import { destinationOf, OriginPool } from "./origin_pool.ts";
import { Timeouts } from "./timeouts.ts";

/** One request as it goes out. */
export interface Outgoing {
  /** Whose attempt it is, for traces. */
  endpoint: string;
  origin: string;
  /** Path and query as they stand in the request line. */
  path: string;
  method: string;
  /** Sent line for line; `Host` and `Content-Length` are added. */
  headers: HeaderList;
  /** Whole body, or a factory that opens it anew for every try. */
  body: Uint8Array | (() => AsyncIterable<Uint8Array>);
  bodyBytes: number;
  /** For everything until the answer's head is here: name, connection, sending. */
  timeoutMs: number;
  signal?: AbortSignal;
}

/** What came of it; `ms` is the time until then. `ended` resolves with the answer's end. */
export type Answer =
  | ({ kind: "answer"; ms: number } & Head)
  | { kind: "failure"; code: FailureCode; ms: number };

export interface Transport {
  /**
   * Sends a request once and waits for the answer's head. Never rejects. The connection is
   * in use until `ended`: who bounds requests until then bounds the sockets.
   */
  send(out: Outgoing): Promise<Answer>;
  /** Connects and hangs up; whether somebody listens. */
  knock(origin: string, timeoutMs: number): Promise<boolean>;
  /** Ends all requests as `aborted` and closes all connections. */
  close(): Promise<void>;
}

export interface TransportOptions extends DialOptions {
  clock: Clock;
}

/**
 * Makes the transport: HTTP/1.1 with kept connections, a pool an origin. Redirects are
 * not followed and nothing is sent twice, with one exception: where a connection that lay
 * idle turns out to be gone, the request goes out on a new one.
 */
export function createTransport(options: TransportOptions): Transport {
  const dial = createDial(options);
  const { clock } = options;
  const timeouts = new Timeouts(clock);
  const pools = new Map<string, OriginPool>();
  let closed = false;

  const poolOf = (origin: string): OriginPool => {
    const known = pools.get(origin);
    if (known !== undefined) return known;
    const pool = new OriginPool(origin, dial, clock, () => pools.delete(origin));
    pools.set(origin, pool);
    return pool;
  };

  return {
    async send(out) {
      if (closed || out.signal?.aborted) return { kind: "failure", code: "aborted", ms: 0 };
      return await new Attempt(poolOf(out.origin), out, clock, timeouts).answer;
    },
    knock: (origin, timeoutMs) => knock(dial, origin, timeoutMs),
    async close() {
      closed = true;
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}

/** One `send()`: its time limit, its calling off, and the one allowed second try. */
class Attempt {
  readonly answer: Promise<Answer>;
  readonly #pool: OriginPool;
  readonly #out: Outgoing;
  readonly #clock: Clock;
  readonly #timeouts: Timeouts;
  readonly #startedAtMs: number;
  readonly #resolve: (answer: Answer) => void;
  readonly #cancelTimeout: () => void;
  readonly #onAbort = () => this.#giveUp("aborted");
  #connection: Connection;
  #settled = false;

  constructor(pool: OriginPool, out: Outgoing, clock: Clock, timeouts: Timeouts) {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#pool = pool;
    this.#out = out;
    this.#clock = clock;
    this.#timeouts = timeouts;
    this.#startedAtMs = clock.monotonicMs();
    this.#cancelTimeout = timeouts.start(out.timeoutMs, () => this.#giveUp("timeout"));
    out.signal?.addEventListener("abort", this.#onAbort);
    this.#connection = pool.take();
    this.#dispatch((outcome) =>
      "error" in outcome && outcome.unread ? this.#sendAgain() : this.#settle(outcome)
    );
  }

  /** Ends the attempt from our side; the connection is of no use any more. */
  #giveUp(code: FailureCode): void {
    if (this.#settled) return;
    this.#settle({ code });
    this.#pool.drop(this.#connection);
  }

  #sendAgain(): void {
    if (this.#settled) return;
    this.#connection = this.#pool.open();
    this.#dispatch((outcome) => this.#settle(outcome));
  }

  #dispatch(onOutcome: (outcome: Head | Broken) => void): void {
    const exchange = new Exchange(this.#pool, this.#connection, this.#timeouts, onOutcome);
    this.#connection.client.dispatch(dispatchOptions(this.#out), exchange);
  }

  #settle(outcome: Head | Broken | { code: FailureCode }): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#cancelTimeout();
    this.#out.signal?.removeEventListener("abort", this.#onAbort);
    const ms = Math.round(this.#clock.monotonicMs() - this.#startedAtMs);
    if ("status" in outcome) return this.#resolve({ kind: "answer", ...outcome, ms });
    this.#resolve({ kind: "failure", code: this.#codeOf(outcome), ms });
  }

  #codeOf(outcome: Broken | { code: FailureCode }): FailureCode {
    if ("code" in outcome) return outcome.code;
    return this.#pool.closed ? "aborted" : failureCode(outcome.error);
  }
}

function dispatchOptions(out: Outgoing): Dispatcher.DispatchOptions {
  const headers = out.headers.flat();
  const empty = out.bodyBytes === 0;
  if (!empty) headers.push("content-length", String(out.bodyBytes));
  return {
    path: out.path,
    method: out.method as Dispatcher.HttpMethod,
    headers,
    // undici takes any async iterable; its types know Readable alone.
    body: empty
      ? null
      : out.body instanceof Uint8Array
      ? out.body
      : reading(out.body()) as unknown as Readable,
  };
}

/** Marks errors of the body's source as ours, not the connection's. */
async function* reading(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new BodyFailure("cannot read body", { cause: error });
  }
}

async function knock(dial: Dial, origin: string, timeoutMs: number): Promise<boolean> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  const dialled = await dial({ ...destinationOf(origin), secure: false }, abort.signal);
  clearTimeout(timer);
  if ("code" in dialled) return false;
  dialled.socket.destroy();
  return true;
}
