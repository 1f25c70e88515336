import { Buffer } from "node:buffer";

const CR = 13, LF = 10;
const BUFFER_BYTES = 64 * 1024;

/**
 * Reads HTTP/1.1 messages with a `Content-Length` off one connection, as cheaply as a
 * script can: heads as text, bodies counted and dropped.
 */
export class MessageReader {
  readonly #conn: Deno.Conn;
  readonly #buffer = Buffer.alloc(BUFFER_BYTES);
  #start = 0;
  #end = 0;

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /** The next message's head once its body is here too; `undefined` at the connection's end. */
  async next(): Promise<string | undefined> {
    let headEnd = this.#headEnd();
    while (headEnd < 0) {
      if (!await this.#fill()) return undefined;
      headEnd = this.#headEnd();
    }
    const head = this.#buffer.toString("latin1", this.#start, headEnd);
    this.#start = headEnd + 4;
    return await this.#skip(bodyBytesOf(head)) ? head : undefined;
  }

  #headEnd(): number {
    const buffer = this.#buffer;
    for (let at = this.#start; at + 3 < this.#end; at++) {
      if (buffer[at] !== CR || buffer[at + 1] !== LF) continue;
      if (buffer[at + 2] === CR && buffer[at + 3] === LF) return at;
    }
    return -1;
  }

  async #skip(bytes: number): Promise<boolean> {
    for (let left = bytes;;) {
      const have = this.#end - this.#start;
      if (left <= have) {
        this.#start += left;
        return true;
      }
      left -= have;
      this.#start = this.#end = 0;
      if (!await this.#fill()) return false;
    }
  }

  /** Reads more; `false` where the connection has ended or failed. */
  async #fill(): Promise<boolean> {
    if (this.#start > 0) {
      this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
    }
    if (this.#end === BUFFER_BYTES) throw new Error("cannot read a message: its head is too long");
    try {
      const read = await this.#conn.read(this.#buffer.subarray(this.#end));
      this.#end += read ?? 0;
      return read !== null;
    } catch {
      return false;
    }
  }
}

function bodyBytesOf(head: string): number {
  const found = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (found !== null) return Number(found[1]);
  if (/\r\ntransfer-encoding:/i.test(head)) {
    throw new Error("cannot read a message: its body has no Content-Length");
  }
  return 0;
}

/** Writes all of `bytes`; `false` where the connection has ended or failed. */
export async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<boolean> {
  try {
    for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
    return true;
  } catch {
    return false;
  }
}

/** The value of a header that is written in lower case, as all parts of the benchmark do. */
export function headerOf(head: string, name: string): string | undefined {
  const start = head.indexOf(`\r\n${name}: `);
  if (start < 0) return undefined;
  const valueAt = start + name.length + 4;
  const end = head.indexOf("\r\n", valueAt);
  return head.slice(valueAt, end < 0 ? undefined : end);
}
