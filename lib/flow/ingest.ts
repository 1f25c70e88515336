import { escapesTarget } from "../decide/target_url.ts";
import { eventKey } from "../decide/event_id.ts";
import { headerBytes, hopsOf, type Peer, receivedHeaders } from "../decide/headers.ts";
import type { Endpoint } from "../endpoint.ts";
import { type Problem, problem, StoreUnavailable } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { PayloadHead, RequestHead } from "../model.ts";
import type { Clock, NextId, Observe } from "../ports.ts";
import { saveHandshake } from "../store/handshakes.ts";
import { requireRoom, type Store } from "../store/kv.ts";
import { firstRowBytes, payloadRows } from "../store/payload.ts";
import type { BodyCheck, HandshakeAnswer, Sender, Verdict } from "../verify/sender.ts";
import { admit, type AdmitParts, type Admitted } from "./admit.ts";
import { type BodySource, type ReadBody, readBody } from "./read_body.ts";

/** A request at `/hook/:endpoint`, as the route hands it over. */
export interface Arrival {
  head: RequestHead;
  body: BodySource;
  peer: Peer;
}

/** What the sender is to be told. */
export type IngestResult =
  | ({ kind: "stored" } & Admitted)
  | { kind: "handshake"; answer: HandshakeAnswer }
  | { kind: "refused"; problem: Problem; allow?: readonly string[] };

export interface IngestParts extends AdmitParts {
  store: Store;
  clock: Clock;
  nextId: NextId;
  endpoints: ReadonlyMap<string, Endpoint>;
  senderOf: (endpoint: string) => Sender;
  observe: Observe;
}

type Step<T> = T | { refused: Problem; allow?: readonly string[] };

/**
 * Takes one request in: checks it, stores it durably, and only then says so. Nothing of a
 * refused request stays stored. An unreachable store is a refusal too (503).
 */
export async function ingest(
  parts: IngestParts,
  endpointId: string,
  arrival: Arrival,
): Promise<IngestResult> {
  const endpoint = parts.endpoints.get(endpointId);
  if (endpoint === undefined) {
    return {
      kind: "refused",
      problem: problem("unknown_endpoint", "cannot accept: no such endpoint is configured"),
    };
  }
  const sender = parts.senderOf(endpointId);
  if (parts.isStopping()) return stopping();
  const { head } = arrival;
  const nowMs = parts.clock.nowMs();
  const answer = sender.handshakeHead(head, nowMs);
  if (answer !== undefined) return await handshake(parts, endpointId, answer);
  const checked = checkHead(endpoint, sender, head, nowMs);
  if ("refused" in checked) {
    return { kind: "refused", problem: checked.refused, allow: checked.allow };
  }
  try {
    return await takeBody(parts, endpoint, sender, arrival, checked.check);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    parts.observe({
      type: "store_error",
      atMs: nowMs,
      doing: `accept on ${endpointId}`,
      message: error.message,
    });
    return {
      kind: "refused",
      problem: problem("store_unavailable", "cannot store the delivery: try again later"),
    };
  }
}

/** Everything that is known before the body: method, sizes, loops, the signature's header. */
function checkHead(
  endpoint: Endpoint,
  sender: Sender,
  head: RequestHead,
  nowMs: number,
): Step<{ check: BodyCheck }> {
  if (!endpoint.methods.includes(head.method)) {
    const refused = problem("method_not_allowed", `cannot accept: method is ${head.method}`);
    return { refused, allow: endpoint.methods };
  }
  const refused = sizeOrLoop(endpoint, head);
  if (refused !== undefined) return { refused };
  const begun = sender.begin(head, nowMs);
  if ("update" in begun) return { check: begun };
  return begun.ok ? { check: NO_CHECK } : { refused: problem(begun.code, begun.detail) };
}

const NO_CHECK: BodyCheck = { update: () => {}, finish: (): Verdict => ({ ok: true }) };

function sizeOrLoop(endpoint: Endpoint, head: RequestHead): Problem | undefined {
  const targetBytes = head.path.length + head.query.length;
  if (targetBytes > LIMITS.targetBytes) {
    return problem(
      "target_too_long",
      `cannot accept: path and query have ${targetBytes} bytes, the limit is ${LIMITS.targetBytes}`,
    );
  }
  const bytes = headerBytes(head.headers);
  if (bytes > LIMITS.headerBytes) {
    return problem(
      "headers_too_large",
      `cannot accept: headers have ${bytes} bytes, the limit is ${LIMITS.headerBytes}`,
    );
  }
  // Both lie in the payload's first row.
  if (targetBytes + bytes > LIMITS.chunkBytes) {
    return problem(
      "headers_too_large",
      `cannot accept: path, query and headers have ${targetBytes + bytes} bytes, ` +
        `the limit is ${LIMITS.chunkBytes}`,
    );
  }
  if (hopsOf(head.headers) > LIMITS.hops) {
    return problem(
      "loop_detected",
      `cannot accept: the request has passed more than ${LIMITS.hops} relays`,
    );
  }
  if (endpoint.forwardPath && escapesTarget(head.path)) {
    return problem("bad_parameter", "cannot accept: the path climbs above the target's own path");
  }
  return undefined;
}

async function takeBody(
  parts: IngestParts,
  endpoint: Endpoint,
  sender: Sender,
  { head, body: source, peer }: Arrival,
  check: BodyCheck,
): Promise<IngestResult> {
  requireRoom(parts.store);
  const deliveryId = parts.nextId(parts.clock.nowMs());
  const headers = receivedHeaders(head.headers, peer);
  const reserved = headerBytes(headers) + head.path.length + head.query.length;
  const body = await readBody(
    parts,
    source,
    deliveryId,
    endpoint.maxBodyBytes,
    firstRowBytes(reserved),
    check,
  );
  if ("code" in body) return { kind: "refused", problem: body };
  const refused = parts.isStopping()
    ? stopping()
    : await judge(parts, endpoint.id, sender, head, body, check);
  if (refused !== undefined) {
    await body.staging?.discard();
    return refused;
  }
  const stored = {
    endpoint: endpoint.id,
    method: head.method,
    path: head.path,
    query: head.query,
    headers,
    body: body.first,
  };
  return await admitBody(parts, endpoint, sender, head, deliveryId, stored, reserved, body);
}

function stopping(): IngestResult {
  return { kind: "refused", problem: problem("stopping", "cannot accept: the relay is stopping") };
}

/** Signature, then the handshakes that are signed like events. */
async function judge(
  parts: IngestParts,
  endpointId: string,
  sender: Sender,
  head: RequestHead,
  body: ReadBody,
  check: BodyCheck,
): Promise<IngestResult | undefined> {
  const verdict = check.finish(body.whole);
  if (!verdict.ok) return { kind: "refused", problem: problem(verdict.code, verdict.detail) };
  const answer = body.whole && sender.handshakeBody(head, body.whole, parts.clock.nowMs());
  return answer && await handshake(parts, endpointId, answer);
}

/** A handshake is answered and forgotten, but for what the operator has to do about it. */
async function handshake(
  parts: IngestParts,
  endpointId: string,
  answer: HandshakeAnswer,
): Promise<IngestResult> {
  const { report } = answer;
  if (report !== undefined) {
    await saveHandshake(parts.store, endpointId, { atMs: parts.clock.nowMs(), report });
  }
  return { kind: "handshake", answer };
}

async function admitBody(
  parts: IngestParts,
  endpoint: Endpoint,
  sender: Sender,
  head: RequestHead,
  deliveryId: string,
  stored: PayloadHead,
  reserved: number,
  body: ReadBody,
): Promise<IngestResult> {
  const { staging } = body;
  const published = staging?.publish();
  const rows = payloadRows(deliveryId, stored, body.first, staging === undefined ? reserved : 0);
  // A rejection leaves the staged chunks alone: the commit may yet have landed.
  const admitted = await admit(parts, endpoint, {
    deliveryId,
    ...identify(endpoint, sender, head, body, deliveryId),
    head: stored,
    bytes: body.bytes,
    sha256: body.sha256,
    chunks: staging?.rows ?? rows.length,
    rows: published === undefined ? rows : [...rows, published.mutation],
    checks: published === undefined ? [] : [published.check],
    rowBytes: reserved + body.first.length,
    whole: body.whole,
  });
  // Another one's, too, where an earlier request of the same event is found to have landed.
  if (admitted.deliveryId !== deliveryId) await staging?.discard();
  return { kind: "stored", ...admitted };
}

const DAY_MS = 86_400_000;
const DEDUP_WINDOW_MS = 30 * DAY_MS;
/** Two equal bodies without an id may well be two events: only a quick repeat is taken for one. */
const HASH_DEDUP_WINDOW_MS = 15 * 60_000;

/** The event's id, and the claim on it where repeats are to be recognised. */
function identify(
  endpoint: Endpoint,
  sender: Sender,
  head: RequestHead,
  body: ReadBody,
  deliveryId: string,
): { eventId: string; claim?: { eventKey: string; windowMs: number } } {
  const given = sender.eventId(head, body.whole);
  const hash = given === undefined && endpoint.dedup === "auto"
    ? sender.fallbackId(head, body.sha256)
    : undefined;
  const id = given ?? hash;
  if (id === undefined) return { eventId: deliveryId };
  const eventId = id.length <= LIMITS.eventIdChars ? id : eventKey(id);
  if (endpoint.dedup === "off") return { eventId };
  const windowMs = sender.dedupWindowMs ??
    (given === undefined ? HASH_DEDUP_WINDOW_MS : DEDUP_WINDOW_MS);
  return { eventId, claim: { eventKey: eventKey(id), windowMs } };
}
