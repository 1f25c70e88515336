import { type Bytes, latin1, utf8 } from "./bytes.ts";
import { pause } from "./wait.ts";
import { writeAll } from "./wire.ts";

/** What a target does with one request. Everything left out is ordinary: 200, empty, kept alive. */
export interface Answer {
  status?: number;
  reason?: string;
  /** Extra header lines, as written on the wire. */
  headers?: readonly string[];
  body?: Bytes;
  /** Body parts as they are made, with no length given; they end with the connection. */
  stream?: () => AsyncIterable<Uint8Array>;
  /** These bytes instead of an HTTP answer. */
  raw?: Bytes;
  /** Time before the answer. */
  delayMs?: number;
  /** What becomes of the connection afterwards; `hang` keeps it open and silent. */
  after?: "keep-alive" | "close" | "hang";
}

/** Reads the request and never says anything. */
export const SILENCE: Answer = { raw: "", after: "hang" };

/** Reads the request and closes the connection without an answer. */
export const HANG_UP: Answer = { raw: "", after: "close" };

/** Answers with these statuses in turn, then with the last one for ever. */
export function inTurn(...statuses: number[]): (request: unknown, index: number) => Answer {
  return (_request, index) => ({ status: statuses[Math.min(index, statuses.length - 1)] });
}

/** Writes the answer; `false` where the connection ends with it. */
export async function writeAnswer(conn: Deno.Conn, answer: Answer): Promise<boolean> {
  if (answer.delayMs !== undefined) await pause(answer.delayMs);
  if (answer.raw !== undefined) await writeAll(conn, bytesOf(answer.raw));
  else await writeHttp(conn, answer);
  if (answer.after === "hang") await untilClosed(conn);
  return answer.after !== "close" && answer.stream === undefined;
}

async function writeHttp(conn: Deno.Conn, answer: Answer): Promise<void> {
  const status = answer.status ?? 200;
  const body = utf8(answer.body ?? "");
  const lines = [`HTTP/1.1 ${status} ${answer.reason ?? "Answer"}`, ...answer.headers ?? []];
  const framed = lines.some((line) => /^content-length:/i.test(line)) || status === 204 ||
    status === 304;
  if (answer.stream !== undefined || answer.after === "close") lines.push("connection: close");
  if (answer.stream === undefined && !framed) lines.push(`content-length: ${body.length}`);
  await writeAll(conn, latin1(lines.join("\r\n") + "\r\n\r\n"));
  await writeAll(conn, body);
  if (answer.stream === undefined) return;
  for await (const part of answer.stream()) await writeAll(conn, part);
}

const bytesOf = (data: Bytes) => typeof data === "string" ? latin1(data) : data;

async function untilClosed(conn: Deno.Conn): Promise<void> {
  const ignored = new Uint8Array(1024);
  while (await conn.read(ignored) !== null);
}
