import { type Answer, writeAnswer } from "./answer.ts";
import { fromUtf8 } from "./bytes.ts";
import { freePort } from "./ports.ts";
import { closeQuietly, headerValues, isDisconnect, type RawHeader, WireReader } from "./wire.ts";

/** One request as the target saw it. */
export class SinkRequest {
  constructor(
    readonly line: string,
    readonly headers: readonly RawHeader[],
    readonly body: Uint8Array,
    /** When the request line was read, on the `performance.now()` clock. */
    readonly atMs: number,
    /** Number of the connection it came on, from 1. */
    readonly connection: number,
  ) {}

  /** The request target: path and query. */
  get target(): string {
    return this.line.split(" ")[1];
  }

  get text(): string {
    return fromUtf8(this.body);
  }

  header(name: string): string | undefined {
    return this.values(name)[0];
  }

  values(name: string): string[] {
    return headerValues(this.headers, name);
  }
}

/** What the target answers: always the same, or decided for each request (counted from 0). */
export type Script = Answer | ((request: SinkRequest, index: number) => Answer);

export interface SinkOptions {
  hostname?: string;
  /** Closes a kept-alive connection that was silent for so long. */
  idleCloseMs?: number;
  /** Is to be stopped: while it is, nobody else is given its port. */
  stops?: boolean;
}

/** A target on a raw socket: records what arrives, answers what the script says. */
export class Sink implements AsyncDisposable {
  readonly requests: SinkRequest[] = [];
  /** Connections ever accepted. */
  connections = 0;
  /** Most requests that were unanswered at the same time. */
  peak = 0;
  #unanswered = 0;
  #listener: Deno.TcpListener | undefined;
  readonly #open = new Set<Deno.Conn>();
  readonly #running = new Set<Promise<void>>();
  #fault: unknown;
  readonly port: number;

  constructor(public script: Script, private readonly options: SinkOptions) {
    this.port = this.#listen(options.stops ? freePort() : 0);
  }

  get openConnections(): number {
    return this.#open.size;
  }

  get host(): string {
    const name = this.options.hostname ?? "127.0.0.1";
    return `${name.includes(":") ? `[${name}]` : name}:${this.port}`;
  }

  url(path = "/in"): string {
    return `http://${this.host}${path}`;
  }

  /** Bodies in order of arrival, as text. */
  get bodies(): string[] {
    return this.requests.map((request) => request.text);
  }

  /** Opens the same port again after `stop()`. */
  start(): void {
    this.#listen(this.port);
  }

  /** Refuses connections from now on and drops the open ones. */
  async stop(): Promise<void> {
    if (!this.options.stops) {
      throw new Error(`a sink may lose port ${this.port}: it has no \`stops\``);
    }
    await this.#end();
  }

  async #end(): Promise<void> {
    if (this.#listener !== undefined) closeQuietly(this.#listener);
    this.#listener = undefined;
    for (const conn of this.#open) closeQuietly(conn);
    await Promise.all(this.#running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
    if (this.#fault !== undefined) throw this.#fault;
  }

  #listen(port: number): number {
    const listener = Deno.listen({ hostname: this.options.hostname ?? "127.0.0.1", port });
    this.#listener = listener;
    this.#track(this.#accept(listener));
    return listener.addr.port;
  }

  async #accept(listener: Deno.TcpListener): Promise<void> {
    for await (const conn of listener) {
      this.connections += 1;
      this.#open.add(conn);
      this.#track(this.#serve(conn, this.connections));
    }
  }

  #track(work: Promise<void>): void {
    const settled = work
      .catch((error) => {
        if (!isDisconnect(error)) this.#fault = error;
      })
      .finally(() => this.#running.delete(settled));
    this.#running.add(settled);
  }

  async #serve(conn: Deno.Conn, connection: number): Promise<void> {
    const reader = new WireReader(conn);
    try {
      let line = await reader.line();
      while (line !== undefined && await this.#exchange(conn, reader, line, connection)) {
        line = await this.#nextLine(conn, reader);
      }
    } finally {
      this.#open.delete(conn);
      closeQuietly(conn);
    }
  }

  /** Reads the rest of one request and answers it; `false` where the connection is not to be used again. */
  async #exchange(
    conn: Deno.Conn,
    reader: WireReader,
    line: string,
    connection: number,
  ): Promise<boolean> {
    const atMs = performance.now();
    const headers = await reader.headers();
    const request = new SinkRequest(line, headers, await body(reader, headers), atMs, connection);
    const index = this.requests.push(request) - 1;
    const answer = typeof this.script === "function" ? this.script(request, index) : this.script;
    this.#unanswered += 1;
    this.peak = Math.max(this.peak, this.#unanswered);
    try {
      return await writeAnswer(conn, answer);
    } finally {
      this.#unanswered -= 1;
    }
  }

  async #nextLine(conn: Deno.Conn, reader: WireReader): Promise<string | undefined> {
    const { idleCloseMs } = this.options;
    if (idleCloseMs === undefined) return await reader.line();
    const timer = setTimeout(() => closeQuietly(conn), idleCloseMs);
    try {
      return await reader.line();
    } finally {
      clearTimeout(timer);
    }
  }
}

function body(reader: WireReader, headers: readonly RawHeader[]): Promise<Uint8Array> {
  if (headerValues(headers, "transfer-encoding").length > 0) return reader.chunked();
  return reader.exactly(Number(headerValues(headers, "content-length")[0] ?? 0));
}

/** Starts a target on a free port; it answers 200 unless a script says otherwise. */
export function startSink(script: Script = {}, options: SinkOptions = {}): Sink {
  return new Sink(script, options);
}
