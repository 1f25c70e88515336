import type { AttemptResult } from "../decide/classify.ts";
import { maskLocation } from "../decide/location.ts";
import { parseRetryAfterMs } from "../decide/retry_after.ts";
import { settle } from "../decide/settle.ts";
import { attempted, type Outcome } from "../decide/transition.ts";
import { LIMITS } from "../limits.ts";
import type { Delivery } from "../model.ts";
import type { Clock, Observe, Random } from "../ports.ts";
import type { Store } from "../store/kv.ts";
import { type Count, type CountName, minuteOf } from "../store/write.ts";
import type { Sender } from "../verify/sender.ts";
import type { Claim } from "./claim.ts";
import type { Lanes } from "./lanes.ts";
import { outgoing, type RequestAtHand } from "./outgoing.ts";
import type { Answer, Transport } from "./transport.ts";

export interface DeliverParts {
  store: Store;
  transport: Transport;
  lanes: Lanes;
  senderOf: (endpoint: string) => Sender;
  clock: Clock;
  random: Random;
  observe: Observe;
  owner: string;
}

/** One attempt to make: a claimed delivery, and its request where it is still at hand. */
export interface Job {
  claim: Claim;
  /** The attempt is an open breaker's probe. */
  probe: boolean;
  atHand?: RequestAtHand;
}

/** One attempt made: what came back and what that means, in epoch milliseconds. */
interface Made {
  /** Resolves when the target is done with this attempt, its answer's body included. */
  ended: Promise<void>;
  atMs: number;
  ms: number;
  result: AttemptResult;
  location?: string;
  retryAfterMs?: number;
}

/** An attempt that was made: the lane knows of it, the store is being told. */
export interface Delivered {
  /** Where the delivery went, once stored; absent if another process has taken it over. */
  settled: Promise<Outcome | undefined>;
  /** Resolves when the target is done with this attempt, its answer's body included. */
  ended: Promise<void>;
}

/**
 * Makes one attempt, tells the lane and begins to settle it. Nothing a target does makes
 * it reject.
 */
export async function deliver(parts: DeliverParts, job: Job): Promise<Delivered> {
  const made = await attempt(parts, job);
  const outcome = decide(parts, job, made);
  const told = tellLane(parts, job, made);
  return { settled: settled(parts, job, made, outcome, told), ended: made.ended };
}

async function settled(
  parts: DeliverParts,
  job: Job,
  made: Made,
  outcome: Outcome,
  told: Promise<void>,
): Promise<Outcome | undefined> {
  const stored = await record(parts, job, made, outcome);
  await told;
  if (!stored) return undefined;
  announce(parts, job.claim.held.delivery);
  return outcome;
}

async function attempt(parts: DeliverParts, { claim, atHand }: Job): Promise<Made> {
  const { held, slot: { lane } } = claim;
  const { endpoint } = lane;
  const atMs = parts.clock.nowMs();
  const sender = parts.senderOf(endpoint.id);
  const request = await outgoing(
    parts.store,
    endpoint,
    sender,
    held.delivery,
    atMs,
    held.abort.signal,
    atHand,
  );
  if (request === undefined) {
    return { atMs, ms: 0, result: { code: "payload_missing" }, ended: OVER };
  }
  const answer = await parts.transport.send(request);
  const nowMs = parts.clock.nowMs();
  return made(answer, beganAtMs(atMs, answer.ms, nowMs), nowMs, endpoint.targetUrl);
}

/**
 * When an attempt of `ms` began, by the clock that says when the next one is due: it may have
 * been stepped since `atMs`, and whoever finds it set back later counts the wait from there.
 */
function beganAtMs(atMs: number, ms: number, nowMs: number): number {
  const isStepped = Math.abs(nowMs - ms - atMs) > LIMITS.clockErrorMs;
  return isStepped ? nowMs - ms : atMs;
}

const OVER = Promise.resolve();

/** Retry-After is heard where RFC 9110 §10.2.3 and RFC 6585 §4 give it this meaning. */
const HEARS_RETRY_AFTER = new Set([429, 503]);

function made(answer: Answer, atMs: number, nowMs: number, targetUrl: string): Made {
  if (answer.kind === "failure") {
    return { atMs, ms: answer.ms, result: { code: answer.code }, ended: OVER };
  }
  const { status, ms, ended } = answer;
  const retryAfterMs = HEARS_RETRY_AFTER.has(status)
    ? parseRetryAfterMs(answer.retryAfter, nowMs)
    : undefined;
  const location = answer.location === undefined
    ? undefined
    : maskLocation(answer.location, targetUrl);
  return { atMs, ms, result: { status }, retryAfterMs, location, ended };
}

/** Says nothing of the target: stopping called it off, or there was nothing to send. */
function isOurs(result: AttemptResult): boolean {
  return "code" in result && (result.code === "aborted" || result.code === "payload_missing");
}

function decide(
  parts: DeliverParts,
  { claim, probe }: Job,
  { result, retryAfterMs, atMs }: Made,
): Outcome {
  const { held, slot: { lane: { endpoint } }, previousDueAtMs } = claim;
  const nowMs = parts.clock.nowMs();
  if ("code" in result && result.code === "aborted") return { to: "refunded", dueAtMs: nowMs };
  return settle({
    delivery: held.delivery,
    result,
    retryAfterMs,
    retryStatuses: endpoint.retryStatuses,
    policy: endpoint.retry,
    breaker: endpoint.breaker !== false,
    previousDueAtMs,
    probe,
    atMs,
    nowMs,
    random: parts.random,
  });
}

async function tellLane(
  parts: DeliverParts,
  { claim, probe }: Job,
  { result, retryAfterMs }: Made,
): Promise<void> {
  if (isOurs(result) && !probe) return;
  const ok = "status" in result && result.status >= 200 && result.status <= 299;
  const owner = probe ? parts.owner : undefined;
  const told = "status" in result ? { ...result, retryAtMs: retryAfterMs } : result;
  const event = {
    type: "attempt",
    deliveryId: claim.held.delivery.id,
    atMs: parts.clock.nowMs(),
    result: told,
    owner,
  } as const;
  await parts.lanes.attempted(claim.slot.lane, event, ok);
}

function record(
  parts: DeliverParts,
  { claim: { held } }: Job,
  made: Made,
  outcome: Outcome,
): Promise<boolean> {
  const nowMs = parts.clock.nowMs();
  const { atMs, ms, result, location } = made;
  const measured = { atMs, ms, ...result, ...(location === undefined ? {} : { location }) };
  return held.settle(
    (delivery) => attempted(delivery, measured, outcome, nowMs),
    { counts: countsFor(held.delivery.endpoint, outcome, nowMs) },
  );
}

function countsFor(endpoint: string, outcome: Outcome, nowMs: number): Count[] {
  const minute = minuteOf(nowMs);
  const names: CountName[] = ["attempts"];
  if (outcome.to === "delivered" || outcome.to === "dead") names.push(outcome.to);
  if (outcome.to !== "delivered") names.push("failed");
  return names.map((name) => ({ endpoint, minute, name, n: 1 }));
}

function announce({ observe }: DeliverParts, delivery: Delivery): void {
  const { endpoint, id: deliveryId, eventId, state, reason, settledAtMs } = delivery;
  const last = delivery.attempts.at(-1);
  if (last !== undefined) observe({ type: "attempt", endpoint, deliveryId, eventId, ...last });
  if (state === "delivered" || state === "dead") {
    observe({ type: "settled", atMs: settledAtMs ?? 0, endpoint, deliveryId, state, reason });
  }
}
