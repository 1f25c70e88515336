/**
 * The target of all deliveries: answers 200 at once and notes which numbers came, how
 * often and when. `GET /progress`, `/report`, `/missing` and `/reset` are for the benchmark.
 *
 * Usage: sink.ts <port>
 */
import type { Missing, SinkProgress, SinkReport } from "../sink.ts";
import { epochMs, spreadOf } from "../numbers.ts";
import { SENT_AT_HEADER, SEQUENCE_HEADER } from "../stamp.ts";
import { headerOf, MessageReader, writeAll } from "../wire.ts";

const OK = new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
const MISSING_SHOWN = 1_000;

let seen = new Set<number>();
let arrivals = 0;
let firstAtMs = 0;
let lastAtMs = 0;
let latenciesMs: number[] = [];

function note(head: string): void {
  const atMs = epochMs();
  if (arrivals === 0) firstAtMs = atMs;
  lastAtMs = atMs;
  arrivals++;
  const sequence = Number(headerOf(head, SEQUENCE_HEADER));
  if (seen.has(sequence)) return;
  seen.add(sequence);
  latenciesMs.push(atMs - Number(headerOf(head, SENT_AT_HEADER)));
}

function progress(): SinkProgress {
  return { unique: seen.size, duplicates: arrivals - seen.size, firstAtMs, lastAtMs };
}

function report(): SinkReport {
  return { ...progress(), ...spreadOf(latenciesMs) };
}

function missing(below: number): Missing {
  const numbers: number[] = [];
  for (let n = 0; n < below && numbers.length < MISSING_SHOWN; n++) {
    if (!seen.has(n)) numbers.push(n);
  }
  return { numbers };
}

function reset(): SinkProgress {
  seen = new Set();
  latenciesMs = [];
  arrivals = firstAtMs = lastAtMs = 0;
  return progress();
}

function answerTo(target: string): SinkProgress | SinkReport | Missing {
  const url = new URL(target, "http://sink");
  if (url.pathname === "/report") return report();
  if (url.pathname === "/missing") return missing(Number(url.searchParams.get("below")));
  return url.pathname === "/reset" ? reset() : progress();
}

async function serve(conn: Deno.TcpConn): Promise<void> {
  conn.setNoDelay();
  const messages = new MessageReader(conn);
  for (;;) {
    const head = await messages.next();
    if (head === undefined) break;
    let answer = OK;
    if (head.startsWith("GET ")) {
      const body = JSON.stringify(answerTo(head.split(" ", 2)[1]));
      answer = new TextEncoder().encode(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    } else note(head);
    if (!await writeAll(conn, answer)) break;
  }
  conn.close();
}

const listener = Deno.listen({ hostname: "127.0.0.1", port: Number(Deno.args[0]) });
for await (const conn of listener) serve(conn);
