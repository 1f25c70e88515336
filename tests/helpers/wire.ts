import { concat, fromLatin1 } from "./bytes.ts";

/** The other side closed before the message was complete. */
export class ConnectionEnded extends Error {
  override name = "ConnectionEnded";
}

/** Whether an error only says that the other side, or the test, closed the connection. */
export function isDisconnect(error: unknown): boolean {
  return error instanceof ConnectionEnded || error instanceof Deno.errors.BadResource ||
    error instanceof Deno.errors.Interrupted || error instanceof Deno.errors.ConnectionReset ||
    error instanceof Deno.errors.ConnectionAborted || error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.NotConnected;
}

/** Header lines as they came: name as written, value as Latin-1 text. */
export type RawHeader = readonly [name: string, value: string];

export const headerValues = (headers: readonly RawHeader[], name: string): string[] =>
  headers.filter(([own]) => own.toLowerCase() === name.toLowerCase()).map(([, value]) => value);

const READ_BYTES = 64 * 1024;
const LF = 10;

/** Reads HTTP/1.1 messages from a connection without interpreting them further. */
export class WireReader {
  #held: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  readonly #conn: Deno.Conn;

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /** One line without its CR LF; `undefined` where the connection ended before its first byte. */
  async line(): Promise<string | undefined> {
    let end = this.#held.indexOf(LF);
    while (end < 0) {
      if (!await this.#more()) {
        if (this.#held.length === 0) return undefined;
        throw new ConnectionEnded("in a line");
      }
      end = this.#held.indexOf(LF);
    }
    return fromLatin1(this.#take(end + 1)).replace(/\r?\n$/, "");
  }

  /** Header lines up to the empty one. */
  async headers(): Promise<RawHeader[]> {
    const headers: RawHeader[] = [];
    while (true) {
      const line = await this.line();
      if (line === undefined) throw new ConnectionEnded("in the head");
      if (line === "") return headers;
      const colon = line.indexOf(":");
      headers.push([line.slice(0, colon), line.slice(colon + 1).trim()]);
    }
  }

  async exactly(length: number): Promise<Uint8Array<ArrayBuffer>> {
    const whole = new Uint8Array(length);
    const first = this.#take(Math.min(length, this.#held.length));
    whole.set(first);
    for (let filled = first.length; filled < length;) {
      const count = await this.#conn.read(whole.subarray(filled));
      if (count === null) throw new ConnectionEnded("in the body");
      filled += count;
    }
    return whole;
  }

  async chunked(): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Uint8Array[] = [];
    while (true) {
      const size = parseInt(await this.line() ?? "", 16);
      if (Number.isNaN(size)) throw new ConnectionEnded("in a chunk size");
      if (size === 0) break;
      chunks.push(await this.exactly(size));
      await this.line();
    }
    await this.headers();
    return concat(chunks);
  }

  async untilEnd(): Promise<Uint8Array<ArrayBuffer>> {
    while (await this.#more());
    return this.#take(this.#held.length);
  }

  async #more(): Promise<boolean> {
    const buffer = new Uint8Array(READ_BYTES);
    const count = await this.#conn.read(buffer);
    if (count === null) return false;
    this.#held = concat([this.#held, buffer.subarray(0, count)]);
    return true;
  }

  #take(length: number): Uint8Array<ArrayBuffer> {
    const taken = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return taken;
  }
}

/** Writes everything; a connection may take less than it is given. */
export async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
}

export function closeQuietly(conn: { close(): void }): void {
  try {
    conn.close();
  } catch (error) {
    if (!isDisconnect(error)) throw error;
  }
}
