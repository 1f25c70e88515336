import type { Buffer } from "node:buffer";
import type { Dispatcher } from "undici";
import { LIMITS } from "../limits.ts";
import type { Connection } from "./connection.ts";
import { errorCode } from "./failure_code.ts";
import type { OriginPool } from "./origin_pool.ts";
import type { Timeouts } from "./timeouts.ts";

/** What the head of an answer says to us. */
export interface Head {
  status: number;
  /** Resolves when the rest of the answer is read or given up: the target is free again. */
  ended: Promise<void>;
  retryAfter?: string;
  location?: string;
}

/** The connection failed before a head came. */
export interface Broken {
  error: Error;
  /** The target had given an idle connection up: nobody has read what came on it. */
  unread: boolean;
}

/**
 * Servers give connections up that were idle for a second or more. One that is reset sooner
 * was in use: the target may have read the request, so it is a failed attempt.
 */
const GIVEN_UP_AFTER_MS = 1_000;

/** undici's controller, with the field that its types leave out. */
type Controller = Dispatcher.DispatchController & { rawHeaders?: Buffer[] };

/**
 * One request on one connection, as undici reports it. `onOutcome` is called once, when
 * the head is here or cannot come any more; the rest of the answer is read up to
 * `LIMITS.responseBytes` and `LIMITS.responseBodyMs`, then the connection is closed.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #pool: OriginPool;
  readonly #connection: Connection;
  readonly #timeouts: Timeouts;
  readonly #onOutcome: (outcome: Head | Broken) => void;
  #wasIdle = false;
  #answering = false;
  #bodyBytes = 0;
  #headIsHere = false;
  #isOver = false;
  #cancelTimeout: (() => void) | undefined;
  #end: () => void = () => {};

  constructor(
    pool: OriginPool,
    connection: Connection,
    timeouts: Timeouts,
    onOutcome: (outcome: Head | Broken) => void,
  ) {
    this.#pool = pool;
    this.#connection = connection;
    this.#timeouts = timeouts;
    this.#onOutcome = onOutcome;
  }

  onRequestStart(): void {
    const { uses, idleMs } = this.#connection;
    this.#wasIdle = uses > 0 && idleMs >= GIVEN_UP_AFTER_MS;
    this.#connection.uses += 1;
  }

  onResponseStarted(): void {
    this.#answering = true;
  }

  onResponseStart(controller: Controller, status: number): void {
    if (status < 200) return;
    this.#headIsHere = true;
    // A short answer is over with the piece that brought its head: no limit is needed then.
    queueMicrotask(() => this.#limitRest());
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = resolve;
    this.#onOutcome(headOf(status, promise, controller.rawHeaders ?? []));
  }

  #limitRest(): void {
    if (this.#isOver) return;
    this.#cancelTimeout = this.#timeouts.start(
      LIMITS.responseBodyMs,
      () => this.#pool.drop(this.#connection),
    );
  }

  #over(): void {
    this.#isOver = true;
    this.#cancelTimeout?.();
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > LIMITS.responseBytes) controller.abort(new Error("answer too long"));
  }

  onResponseEnd(): void {
    this.#over();
    this.#pool.release(this.#connection);
    this.#end();
  }

  onResponseError(_: Controller, error: Error): void {
    this.#over();
    this.#pool.drop(this.#connection);
    this.#end();
    if (this.#headIsHere) return;
    const refused = ["ECONNRESET", "EPIPE"].includes(errorCode(error));
    this.#onOutcome({ error, unread: refused && this.#wasIdle && !this.#answering });
  }
}

function headOf(status: number, ended: Promise<void>, rawHeaders: readonly Buffer[]): Head {
  if (status < 300) return { status, ended };
  return {
    status,
    ended,
    retryAfter: firstValue(rawHeaders, "retry-after"),
    location: firstValue(rawHeaders, "location"),
  };
}

/** The first line of that name, as Latin-1; names and values alternate in the list. */
function firstValue(rawHeaders: readonly Buffer[], wanted: string): string | undefined {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name.length === wanted.length && name.toString("latin1").toLowerCase() === wanted) {
      return rawHeaders[i + 1].toString("latin1");
    }
  }
  return undefined;
}
