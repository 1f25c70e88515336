import { fromUtf8, latin1 } from "./bytes.ts";
import { within } from "./wait.ts";
import {
  closeQuietly,
  headerValues,
  isDisconnect,
  type RawHeader,
  WireReader,
  writeAll,
} from "./wire.ts";

/** An answer as it stood on the wire. */
export class RawResponse {
  constructor(
    readonly status: number,
    readonly headers: readonly RawHeader[],
    readonly body: Uint8Array,
  ) {}

  header(name: string): string | undefined {
    return headerValues(this.headers, name)[0];
  }

  get text(): string {
    return fromUtf8(this.body);
  }

  /** The body as JSON; an empty object where it is none. */
  get json(): Record<string, unknown> {
    try {
      return JSON.parse(this.text);
    } catch {
      return {};
    }
  }
}

/** A client socket for requests that no client library would send. */
export class RawSocket implements Disposable {
  readonly #conn: Deno.TcpConn;
  readonly #reader: WireReader;

  private constructor(conn: Deno.TcpConn) {
    this.#conn = conn;
    this.#reader = new WireReader(conn);
  }

  static async connect(port: number): Promise<RawSocket> {
    return new RawSocket(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** Text goes out as Latin-1: `\xe9` is one byte. */
  send(data: string | Uint8Array): Promise<void> {
    return writeAll(this.#conn, typeof data === "string" ? latin1(data) : data);
  }

  /** Like `send`, but a connection that the other side has closed is no failure. */
  async trySend(data: string | Uint8Array): Promise<boolean> {
    try {
      await this.send(data);
      return true;
    } catch (error) {
      if (isDisconnect(error)) return false;
      throw error;
    }
  }

  /** Sends no more, but still reads; a connection that is closed already is no failure. */
  async endSending(): Promise<void> {
    try {
      await this.#conn.closeWrite();
    } catch (error) {
      if (!isDisconnect(error)) throw error;
    }
  }

  /**
   * The next answer; `undefined` where the connection was closed or reset instead. Of a stream
   * of events, which has no end, only the head is read.
   */
  response(
    { withinMs = 60_000, bodyless = false }: { withinMs?: number; bodyless?: boolean } = {},
  ): Promise<RawResponse | undefined> {
    return within(this.#read(bodyless), { withinMs, what: "an answer on a raw socket" });
  }

  async #read(bodyless: boolean): Promise<RawResponse | undefined> {
    try {
      const statusLine = await this.#reader.line();
      if (statusLine === undefined) return undefined;
      const status = Number(statusLine.split(" ")[1]);
      const headers = await this.#reader.headers();
      const endless = headerValues(headers, "content-type")[0] === "text/event-stream";
      const none = bodyless || endless || status < 200 || status === 204 || status === 304;
      return new RawResponse(status, headers, none ? new Uint8Array() : await this.#body(headers));
    } catch (error) {
      if (isDisconnect(error)) return undefined;
      throw error;
    }
  }

  #body(headers: readonly RawHeader[]): Promise<Uint8Array> {
    const [length] = headerValues(headers, "content-length");
    if (length !== undefined) return this.#reader.exactly(Number(length));
    const chunked = headerValues(headers, "transfer-encoding").length > 0;
    return chunked ? this.#reader.chunked() : this.#reader.untilEnd();
  }

  [Symbol.dispose](): void {
    closeQuietly(this.#conn);
  }
}

/**
 * Sends `parts` on a fresh connection and reads one answer, which may come before all is
 * sent; `undefined` where the connection was closed instead.
 */
export async function exchange(
  port: number,
  parts: string | Uint8Array | ReadonlyArray<string | Uint8Array>,
  options?: { withinMs?: number; bodyless?: boolean },
): Promise<RawResponse | undefined> {
  const socket = await RawSocket.connect(port);
  const list = typeof parts === "string" || parts instanceof Uint8Array ? [parts] : parts;
  const sent = sendParts(socket, list);
  try {
    return await socket.response(options);
  } finally {
    socket[Symbol.dispose]();
    await sent;
  }
}

async function sendParts(
  socket: RawSocket,
  parts: ReadonlyArray<string | Uint8Array>,
): Promise<void> {
  for (const part of parts) if (!await socket.trySend(part)) return;
}
