import { pause } from "../helpers/wait.ts";
import { closeQuietly, isDisconnect, writeAll } from "../helpers/wire.ts";

/** Long enough for what was asked to be done. */
const HOLD_MS = 300;
const PIECE_BYTES = 64 * 1024;

/** Stands between programs and a server; keeps answers back and cuts the connection. */
export class CuttingProxy implements AsyncDisposable {
  /** The first connection that carries this text towards the server gets no answer any more. */
  cutAt: string | undefined;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open = new Set<Deno.TcpConn>();
  readonly #running = new Set<Promise<void>>();

  constructor(readonly serverPort: number) {
    this.#track(this.#accept());
  }

  get url(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const conn of this.#open) closeQuietly(conn);
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #accept(): Promise<void> {
    for await (const client of this.#listener) this.#track(this.#serve(client));
  }

  async #serve(client: Deno.TcpConn): Promise<void> {
    const server = await Deno.connect({ hostname: "127.0.0.1", port: this.serverPort });
    const both = [client, server];
    for (const conn of both) this.#open.add(conn);
    let isCut = false;
    const cut = async () => {
      this.cutAt = undefined;
      isCut = true;
      await pause(HOLD_MS);
      for (const conn of both) closeQuietly(conn);
    };
    await Promise.all([
      pump(client, async (piece) => {
        await writeAll(server, piece);
        if (this.cutAt !== undefined && holds(piece, this.cutAt)) await cut();
      }),
      pump(server, async (piece) => {
        if (!isCut) await writeAll(client, piece);
      }),
    ]);
    for (const conn of both) {
      closeQuietly(conn);
      this.#open.delete(conn);
    }
  }

  #track(work: Promise<void>): void {
    const settled = work.finally(() => this.#running.delete(settled));
    this.#running.add(settled);
  }
}

const decoder = new TextDecoder("latin1");

const holds = (piece: Uint8Array, text: string) => decoder.decode(piece).includes(text);

/** Hands over what comes, until one of the two is closed. */
async function pump(
  from: Deno.TcpConn,
  take: (piece: Uint8Array) => Promise<void>,
): Promise<void> {
  const room = new Uint8Array(PIECE_BYTES);
  try {
    for (let n = await from.read(room); n !== null; n = await from.read(room)) {
      await take(room.subarray(0, n));
    }
  } catch (error) {
    if (!isDisconnect(error)) throw error;
  }
}
