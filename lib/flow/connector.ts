import { lookup } from "node:dns/promises";
import { connect as connectTcp, isIP, isIPv6, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { mayConnect } from "../decide/address.ts";
import type { FailureCode } from "../model.ts";
import { failureCode } from "./failure_code.ts";

/** Where to connect: `hostname` is a name or an address without brackets. */
export interface Destination {
  hostname: string;
  port: number;
  secure: boolean;
}

export type Dialled = { socket: Socket } | { code: FailureCode };

/** Opens a connection, TLS included; gives up with `aborted` when the signal says so. */
export type Dial = (to: Destination, signal: AbortSignal) => Promise<Dialled>;

/** All addresses of a name, in the order to try them. Rejects where there is none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface DialOptions {
  /** Which addresses that are not global unicast may be dialled. */
  privateTargets: boolean | readonly string[];
  /** In place of the system's resolver. */
  resolve?: Resolve;
  /** Roots to trust in place of the runtime's, PEM. */
  ca?: string;
}

/** RFC 8305 §5: how long the next address waits for the one before it. */
const NEXT_ADDRESS_MS = 250;

/** The system's resolver, so that the hosts file counts. */
const systemResolve: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, order: "verbatim" });
  return found.map(({ address }) => address);
};

/**
 * Makes the one function that opens connections. It resolves the name itself, judges
 * every address, and dials exactly those it judged: a name that answers differently the
 * next time gains nothing. One refused address refuses the name (`blocked_address`).
 */
export function createDial(options: DialOptions): Dial {
  const { privateTargets, resolve = systemResolve, ca } = options;
  return async (to, signal) => {
    const addresses = await addressesOf(to.hostname, resolve);
    if (signal.aborted) return { code: "aborted" };
    if (addresses.length === 0) return { code: "dns" };
    if (!addresses.every((address) => mayConnect(address, privateTargets))) {
      return { code: "blocked_address" };
    }
    const dialled = await dialFirst(alternate(addresses), to.port, signal);
    if ("code" in dialled || !to.secure) return dialled;
    return await secure(dialled.socket, to.hostname, ca, signal);
  };
}

async function addressesOf(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  if (isIP(hostname) !== 0) return [hostname];
  try {
    return await resolve(hostname);
  } catch {
    return [];
  }
}

/** RFC 8305 §4: families take turns, beginning with the resolver's first choice. */
function alternate(addresses: readonly string[]): string[] {
  const first = addresses.filter((address) => isIPv6(address) === isIPv6(addresses[0]));
  const second = addresses.filter((address) => !first.includes(address));
  const turns = Array.from({ length: Math.max(first.length, second.length) }, (_, i) => i);
  return turns.flatMap((i) => [first[i], second[i]]).filter((address) => address !== undefined);
}

/** Dials one address after the other, overlapping; the first that connects is taken. */
function dialFirst(
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<Dialled> {
  const dialling = new Set<Socket>();
  const waiting = [...addresses];
  let timer: ReturnType<typeof setTimeout> | undefined;
  return new Promise((resolve) => {
    const finish = (dialled: Dialled) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      const losers = [...dialling];
      dialling.clear();
      for (const socket of losers) socket.destroy();
      resolve(dialled);
    };
    const giveUp = () => finish({ code: "aborted" });
    const dialNext = () => {
      clearTimeout(timer);
      const host = waiting.shift();
      if (host === undefined) return;
      const socket = connectTcp({ host, port, noDelay: true });
      dialling.add(socket);
      socket.once("connect", () => dialling.delete(socket) && finish({ socket }));
      // Stays for the socket's life: an error after the race must not be unheard.
      socket.on("error", (error) => {
        if (!dialling.delete(socket)) return;
        dialNext();
        if (dialling.size === 0) finish({ code: failureCode(error) });
      });
      timer = setTimeout(dialNext, NEXT_ADDRESS_MS);
    };
    signal.addEventListener("abort", giveUp);
    dialNext();
  });
}

/**
 * Puts TLS on a connection; the certificate must fit the name that was asked for. Deno 2.5
 * says `secureConnect` before the handshake: there a bad certificate is an error of the
 * socket later on, and nothing was sent until then.
 */
function secure(
  socket: Socket,
  hostname: string,
  ca: string | undefined,
  signal: AbortSignal,
): Promise<Dialled> {
  return new Promise((resolve) => {
    const secured = connectTls({
      socket,
      host: hostname,
      // RFC 6066 §3: an address is no server name.
      ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
      ALPNProtocols: ["http/1.1"],
      ...(ca === undefined ? {} : { ca }),
    });
    const finish = (dialled: Dialled) => {
      signal.removeEventListener("abort", giveUp);
      if ("code" in dialled) secured.destroy();
      resolve(dialled);
    };
    const giveUp = () => finish({ code: "aborted" });
    const fail = (error?: Error) => {
      const code = error === undefined ? "tls" : failureCode(error);
      finish({ code: code === "protocol" ? "tls" : code });
    };
    secured.once("secureConnect", () => finish({ socket: secured }));
    secured.on("error", fail);
    secured.once("close", () => fail());
    signal.addEventListener("abort", giveUp);
  });
}
