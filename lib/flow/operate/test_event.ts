import { createHash } from "node:crypto";
import { testedWell } from "../../decide/operator.ts";
import type { Endpoint } from "../../endpoint.ts";
import type { Problem } from "../../errors.ts";
import type { Delivery, FailureCode, PayloadHead } from "../../model.ts";
import type { NextId } from "../../ports.ts";
import type { Store } from "../../store/kv.ts";
import type { Sender } from "../../verify/sender.ts";
import type { Lane } from "../lanes.ts";
import { outgoing } from "../outgoing.ts";
import type { Answer, Transport } from "../transport.ts";
import { type LaneParts, unknownEndpoint } from "./lanes.ts";

export interface TestParts extends LaneParts {
  store: Store;
  transport: Transport;
  senderOf: (endpoint: string) => Sender;
  nextId: NextId;
}

/** What one test event met at the target. */
export interface TestResult {
  ok: boolean;
  atMs: number;
  ms: number;
  status?: number;
  code?: FailureCode;
}

const TYPE = "holdfast.test";

/**
 * Sends one `holdfast.test` event to an endpoint's target, past pause and breaker; nothing
 * of it is stored. An answer of 2xx enables a disabled lane; anything else changes nothing.
 */
export async function testEndpoint(
  parts: TestParts,
  endpoint: string,
): Promise<TestResult | Problem> {
  const lane = await parts.lanes.find(endpoint);
  if (lane === undefined) return unknownEndpoint("test");
  const atMs = parts.clock.nowMs();
  const result = testResult(await send(parts, lane.endpoint, atMs), atMs);
  if (result.ok) await enable(parts, lane);
  return result;
}

async function send(parts: TestParts, endpoint: Endpoint, atMs: number): Promise<Answer> {
  const body = new TextEncoder().encode(
    JSON.stringify({ type: TYPE, endpoint: endpoint.id, at: new Date(atMs).toISOString() }),
  );
  const head: PayloadHead = {
    endpoint: endpoint.id,
    method: endpoint.methods[0],
    path: "",
    query: "",
    headers: [["content-type", "application/json"], ["user-agent", "holdfast"]],
    body,
  };
  const delivery = testDelivery(head, parts.nextId(atMs), atMs);
  const sender = parts.senderOf(endpoint.id);
  const { signal } = new AbortController();
  const request = await outgoing(parts.store, endpoint, sender, delivery, atMs, signal, {
    head,
    body,
  });
  if (request === undefined) throw new Error("cannot test endpoint: its event has no payload");
  return await parts.transport.send(request);
}

function testDelivery(head: PayloadHead, id: string, atMs: number): Delivery {
  const { endpoint, method, path, query, body } = head;
  return {
    ...{ id, endpoint, method, path, query },
    eventId: `${TYPE}:${id}`,
    state: "in_flight",
    bytes: body.length,
    chunks: 1,
    sha256: createHash("sha256").update(body).digest("hex"),
    acceptedAtMs: atMs,
    attemptCount: 0,
    attempts: [],
    replays: 0,
    round: { attemptsBefore: 0, refunds: 0 },
  };
}

function testResult(answer: Answer, atMs: number): TestResult {
  const { ms } = answer;
  if (answer.kind === "failure") return { ok: false, atMs, ms, code: answer.code };
  const { status } = answer;
  return { ok: status >= 200 && status <= 299, atMs, ms, status };
}

async function enable({ lanes, schedule, clock }: TestParts, lane: Lane): Promise<void> {
  await lanes.reread(lane);
  await lanes.update(lane, (row) => testedWell(row, clock.nowMs()));
  schedule.wake(lane.id);
}
