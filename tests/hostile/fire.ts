import assert from "node:assert/strict";
import { type RawResponse, RawSocket } from "../helpers/raw.ts";
import type { Shot, Volley } from "./shot.ts";

/** What came back for one shot; nothing where the connection ended before. */
export interface Hit {
  shot: Shot;
  response: RawResponse | undefined;
}

/** A silence that is longer than any reason for one but a hanging relay. */
const PATIENCE_MS = 20_000;

/** Sends a volley on a connection of its own and reads what is answered to each shot. */
export async function fire(port: number, volley: Volley): Promise<Hit[]> {
  using socket = await RawSocket.connect(port);
  const sent = send(socket, volley);
  const hits: Hit[] = [];
  try {
    for (const shot of volley.end === "hang-up" ? [] : volley.shots) {
      const response = await answer(socket, shot);
      hits.push({ shot, response });
      if (response === undefined || isLast(response)) break;
    }
  } finally {
    if (volley.end === "hang-up") await sent;
    socket[Symbol.dispose]();
    await sent;
  }
  return hits;
}

async function send(socket: RawSocket, { pieces, end }: Volley): Promise<void> {
  for (const piece of pieces) if (!await socket.trySend(piece)) return;
  if (end === "half-close") await socket.endSending();
}

/** The final answer; interim ones are passed over (RFC 9110 §15.2). */
async function answer(socket: RawSocket, { method }: Shot): Promise<RawResponse | undefined> {
  for (;;) {
    const response = await socket.response({
      withinMs: PATIENCE_MS,
      bodyless: method === "HEAD",
    });
    if (response === undefined || response.status >= 200 || response.status < 100) return response;
  }
}

const isLast = (response: RawResponse) =>
  response.header("content-type") === "text/event-stream" ||
  response.header("connection")?.toLowerCase() === "close";

/**
 * Fails unless every whole request of a volley was answered, and in a way that is ours. To who
 * sends no more nothing need be said; and behind a refusal the connection may be closed, since
 * the body of what was refused lies in the way.
 */
export function judge({ end }: Volley, hits: readonly Hit[]): void {
  let mayClose = end !== "wait";
  for (const { shot, response } of hits) {
    if (response === undefined) {
      assert(!shot.isWhole || mayClose, `no answer to ${shot.name}`);
      continue;
    }
    judgeAnswer(shot, response);
    mayClose ||= response.status >= 300;
  }
}

/** Whether an answer says that a delivery was stored now; one to HEAD has no body to say it. */
export const isAccepted = (response: RawResponse): boolean =>
  response.header("holdfast-status") === "accepted";

function judgeAnswer(shot: Shot, response: RawResponse): void {
  const { status, json, body } = response;
  const text = `${shot.name} was answered ${status} ${JSON.stringify(json)}`;
  assert(status >= 200 && status < 500, text);
  const type = response.header("content-type");
  // Without a body it is the server library's own answer to what is no HTTP.
  const isOurs = body.length === 0 || type === "application/problem+json" ||
    type?.startsWith("text/html");
  assert(status < 400 || isOurs, text);
  assert(shot.sha256 !== undefined || !isAccepted(response), `${text}, although it has no body`);
}
