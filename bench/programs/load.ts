/**
 * Sends posts and measures the answers: as fast as its connections allow, or at a steady
 * pace. Takes a `LoadPlan` as its argument and writes a `LoadResult`, both JSON.
 */
import process from "node:process";
import type { LoadPlan, LoadResult } from "../load.ts";
import { epochMs, spreadOf } from "../numbers.ts";
import { StampedRequest } from "../stamp.ts";
import { MessageReader, writeAll } from "../wire.ts";

const plan: LoadPlan = JSON.parse(Deno.args[0]);
const statuses: Record<string, number> = {};
const unanswered: number[] = [];
const answersMs: number[] = [];
let next = 0;

interface Line {
  conn: Deno.TcpConn;
  messages: MessageReader;
  request: StampedRequest;
}

async function openLine(): Promise<Line> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port: plan.port });
  conn.setNoDelay();
  const request = new StampedRequest("/hook/bench", plan.bodyBytes, plan.run);
  return { conn, messages: new MessageReader(conn), request };
}

/** Sends the next post and waits for its answer; `false` where the connection is gone. */
async function post({ conn, messages, request }: Line): Promise<boolean> {
  const sequence = plan.firstNumber + next++;
  const sentAtMs = epochMs();
  request.stamp(sequence, sentAtMs);
  const head = await writeAll(conn, request.bytes) ? await messages.next() : undefined;
  if (head === undefined) {
    unanswered.push(sequence);
    return false;
  }
  answersMs.push(epochMs() - sentAtMs);
  const status = head.slice(9, 12);
  statuses[status] = (statuses[status] ?? 0) + 1;
  if (status !== "202") unanswered.push(sequence);
  return true;
}

const mayGoOn = (endAtMs: number) => next < plan.posts && epochMs() < endAtMs;

/** Every connection sends its next post as soon as the last one is answered. */
async function flatOut(lines: readonly Line[], endAtMs: number): Promise<void> {
  await Promise.all(lines.map(async (line) => {
    while (mayGoOn(endAtMs) && await post(line));
  }));
}

/** Posts leave at fixed times, whatever the answers do; a connection that is free takes one. */
async function paced(lines: Line[], endAtMs: number, perSecond: number): Promise<void> {
  const beganAtMs = epochMs();
  const underWay: Promise<void>[] = [];
  while (mayGoOn(endAtMs)) {
    const line = lines.pop() ?? await openLine();
    underWay.push(post(line).then((alive) => void (alive && lines.push(line))));
    const waitMs = beganAtMs + (next * 1_000) / perSecond - epochMs();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, waitMs)));
  }
  await Promise.all(underWay);
}

const lines = await Promise.all(Array.from({ length: plan.connections }, openLine));
const firstSentAtMs = epochMs();
const endAtMs = firstSentAtMs + plan.seconds * 1_000;
if (plan.perSecond === undefined) await flatOut(lines, endAtMs);
else await paced(lines, endAtMs, plan.perSecond);
const { user, system } = process.cpuUsage();
const result: LoadResult = {
  sent: next,
  accepted: statuses["202"] ?? 0,
  statuses,
  unanswered,
  firstSentAtMs,
  seconds: (epochMs() - firstSentAtMs) / 1_000,
  cpuMs: (user + system) / 1_000,
  ...spreadOf(answersMs),
};
console.log(JSON.stringify(result));
Deno.exit(0);
