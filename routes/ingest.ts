import { Buffer } from "node:buffer";
import { headerSafe } from "../lib/decide/headers.ts";
import { ingest, type IngestParts, type IngestResult } from "../lib/flow/ingest.ts";
import type { HeaderList } from "../lib/model.ts";
import type { AcceptBody, Sender } from "../lib/verify/sender.ts";
import { bodySource } from "./body_source.ts";
import { rawTarget } from "./door.ts";
import { problemResponse, RETRY_SOON } from "./problem.ts";

export interface IngestRouteParts extends IngestParts {
  /** Origin that senders call, where it is configured. */
  publicUrl?: string;
}

/** Where a request came from: the socket's other end. */
export interface Remote {
  hostname: string;
}

const PREFIX = "/hook/";

/** Answers `ANY /hook/:endpoint[/rest][?query]`. */
export async function handleHook(
  parts: IngestRouteParts,
  request: Request,
  remote: Remote,
): Promise<Response> {
  const { path, query } = rawTarget(request.url);
  const [, endpointId, rest] = /^\/hook\/([^/]*)(.*)$/s.exec(path) ?? [path, "", ""];
  const headers = headerLines(request.headers);
  return await takeIn(parts, request, remote, {
    endpointId,
    path: wireText(rest),
    query: wireText(query),
    headers,
  });
}

/** The server reads a target as UTF-8; what goes on are its bytes, one char each. */
function wireText(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** `forEach` takes two thirds of the time that the iterator takes. */
function headerLines(headers: Headers): HeaderList {
  const lines: [string, string][] = [];
  headers.forEach((value, name) => lines.push([name, value]));
  return lines;
}

/** What of a request is for the target. */
export interface Addressed {
  endpointId: string;
  path: string;
  query: string;
  headers: HeaderList;
}

/** Takes a request in for an endpoint, and answers it. */
export async function takeIn(
  parts: IngestRouteParts,
  request: Request,
  remote: Remote,
  { endpointId, ...addressed }: Addressed,
): Promise<Response> {
  const { clock, observe } = parts;
  const sinceMs = clock.monotonicMs();
  const { path, query } = rawTarget(request.url);
  const peer = peerOf(parts.publicUrl, request, remote);
  const result = await ingest(parts, endpointId, {
    head: {
      method: request.method,
      ...addressed,
      url: `${peer.proto}://${peer.host ?? ""}${path}${query === "" ? "" : `?${query}`}`,
    },
    body: bodySource(request),
    peer,
  });
  const ms = clock.monotonicMs() - sinceMs;
  const atMs = clock.nowMs();
  if (result.kind === "refused") {
    const known = parts.endpoints.has(endpointId) ? endpointId : undefined;
    observe({ type: "refused", atMs, endpoint: known, code: result.problem.code, ms });
  } else if (result.kind === "stored") {
    const { status, deliveryId, eventId } = result;
    observe({ type: "accepted", atMs, endpoint: endpointId, deliveryId, eventId, status, ms });
  }
  return respond(result, result.kind === "stored" ? parts.senderOf(endpointId) : undefined);
}

/** Whether a path belongs to this route. */
export function isHook(path: string): boolean {
  return path.startsWith(PREFIX);
}

function peerOf(publicUrl: string | undefined, request: Request, remote: Remote) {
  const peerAddress = remote.hostname;
  if (publicUrl !== undefined) {
    const { host, protocol } = new URL(publicUrl);
    return { peerAddress, host, proto: protocol === "https:" ? "https" as const : "http" as const };
  }
  const host = request.headers.get("host") ?? "";
  return { peerAddress, host: host === "" ? undefined : host, proto: "http" as const };
}

function respond(result: IngestResult, sender: Sender | undefined): Response {
  if (result.kind === "refused") return refusal(result);
  if (result.kind === "handshake") {
    const { status, headers, body, refused } = result.answer;
    if (refused !== undefined) return problemResponse(refused, {}, status);
    return new Response(body, {
      status,
      headers: [["x-content-type-options", "nosniff"], ...headers] as [string, string][],
    });
  }
  const { status, deliveryId, eventId } = result;
  const acceptStatus = sender?.acceptStatus ?? 202;
  const headers = {
    "holdfast-status": status,
    "holdfast-delivery-id": deliveryId,
    "holdfast-event-id": headerSafe(eventId),
  };
  const { contentType, body } = answerBody(sender?.acceptBody ?? "json", {
    status,
    deliveryId,
    eventId,
  });
  return new Response(body, {
    status: status === "duplicate" ? sender?.duplicateStatus ?? 200 : acceptStatus,
    headers: contentType === undefined ? headers : { ...headers, "content-type": contentType },
  });
}

function refusal({ problem, allow }: IngestResult & { kind: "refused" }): Response {
  const headers: Record<string, string> = {};
  if (allow !== undefined) headers["allow"] = allow.join(", ");
  if (problem.code === "store_unavailable" || problem.code === "stopping") {
    Object.assign(headers, RETRY_SOON);
  }
  return problemResponse(problem, headers);
}

function answerBody(
  kind: AcceptBody,
  answer: object,
): { contentType?: string; body: string | null } {
  if (kind === "empty") return { body: null };
  if (kind === "json") return { contentType: "application/json", body: JSON.stringify(answer) };
  return kind;
}
