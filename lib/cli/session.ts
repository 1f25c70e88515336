import type { Command } from "commander";
import { Client } from "./client.ts";
import { EXIT, Failure } from "./exit.ts";
import type { Io } from "./io.ts";
import { Output } from "./output.ts";

/** What a command works with. */
export interface Session {
  io: Io;
  client: Client;
  out: Output;
  /** For progress and remarks, so that standard output holds the answer alone. */
  err: Output;
}

/** Adds one command; `session` is to be called when the command runs. */
export type AddCommand = (program: Command, session: () => Session) => void;

const DEFAULT_URL = "http://127.0.0.1:8000";

interface GlobalOptions {
  json?: boolean;
  url?: string;
  color: boolean;
}

/** Makes a session of the global options and the environment. Throws `Failure`. */
export function openSession(io: Io, { json = false, url, color }: GlobalOptions): Session {
  const given = url ?? (io.env("HOLDFAST_URL") || DEFAULT_URL);
  const noColour = !color || Boolean(io.env("NO_COLOR"));
  return {
    io,
    client: new Client(originOf(given), io.env("ADMIN_TOKEN") || undefined),
    out: new Output(io.out, { json, noColour }),
    err: new Output(io.err, { json, noColour }),
  };
}

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new Failure(EXIT.usage, "cannot use the relay's address: it is not an http(s) URL");
  }
  return url.origin;
}
