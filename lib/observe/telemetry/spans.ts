import {
  type Attributes,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import type { Answer, Outgoing, Transport } from "../../flow/transport.ts";
import { parseTraceparent, traceOf, traceparent, withTrace } from "./traceparent.ts";

/**
 * Runs the handling of a request at the door in a span that continues the sender's trace.
 * The handler sees this span as the request's trace parent, so it is stored with the
 * delivery, and attempts, however much later, belong to the same trace.
 */
export async function inAcceptSpan(
  tracer: Tracer,
  request: Request,
  endpoint: string | undefined,
  handle: (request: Request) => Promise<Response>,
): Promise<Response> {
  const parent = parseTraceparent(request.headers.get("traceparent"));
  const attributes = { "http.request.method": request.method, ...named(endpoint) };
  const span = startSpan(tracer, "accept", SpanKind.SERVER, attributes, parent);
  continueFrom(request, span.spanContext());
  try {
    const response = await context.with(
      trace.setSpan(context.active(), span),
      () => handle(request),
    );
    noteAnswer(span, response);
    return response;
  } finally {
    span.end();
  }
}

/** Wraps a transport: each attempt is a span, and the parent of what the target does. */
export function withAttemptSpans(tracer: Tracer, transport: Transport): Transport {
  return {
    ...transport,
    async send(out) {
      const attributes = attemptAttributes(out);
      const span = startSpan(tracer, "attempt", SpanKind.CLIENT, attributes, traceOf(out.headers));
      const headers = withTrace(out.headers, span.spanContext());
      const answer = await transport.send({ ...out, headers });
      noteBack(span, answer);
      span.end();
      return answer;
    },
  };
}

/**
 * Keeps the span that Deno makes of every request from being exported: it carries the whole
 * URL, and senders put credentials into queries. Attributes of a span cannot be taken back,
 * but a span that never ends is never sent.
 */
export function withholdRuntimeSpan(): void {
  const span = trace.getActiveSpan();
  if (span !== undefined) span.end = () => {};
}

function startSpan(
  tracer: Tracer,
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  parent: SpanContext | undefined,
): Span {
  const from = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
  return tracer.startSpan(name, { kind, attributes }, from);
}

/** Headers of a served request are read-only, and a copy of the request would lose its raw URL. */
function continueFrom(request: Request, span: SpanContext): void {
  const headers = new Headers(request.headers);
  headers.set("traceparent", traceparent(span));
  Object.defineProperty(request, "headers", { value: headers });
}

const named = (endpoint: string | undefined) =>
  endpoint === undefined ? {} : { "holdfast.endpoint": endpoint };

/** Answers of our own to header names of ours: `holdfast-delivery-id` is a delivery's id. */
const ANSWERED = {
  "holdfast-status": "holdfast.status",
  "holdfast-delivery-id": "holdfast.delivery_id",
  "holdfast-event-id": "holdfast.event_id",
};

function noteAnswer(span: Span, { status, headers }: Response): void {
  span.setAttribute("http.response.status_code", status);
  for (const [header, attribute] of Object.entries(ANSWERED)) {
    const value = headers.get(header);
    if (value !== null) span.setAttribute(attribute, value);
  }
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
}

function attemptAttributes({ endpoint, origin, method, headers }: Outgoing): Attributes {
  const value = (name: string) => headers.find(([header]) => header === name)?.[1] ?? "";
  const { hostname, port, protocol } = new URL(origin);
  return {
    "http.request.method": method,
    // Origin only: the target's path and query may hold a credential.
    "server.address": hostname,
    "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
    "holdfast.endpoint": endpoint,
    "holdfast.delivery_id": value("holdfast-delivery-id"),
    "holdfast.event_id": value("holdfast-event-id"),
    "holdfast.attempt": Number(value("holdfast-attempt")),
  };
}

function noteBack(span: Span, back: Answer): void {
  if (back.kind === "answer") {
    span.setAttribute("http.response.status_code", back.status);
    if (back.status < 300) return;
  }
  span.setAttribute("error.type", back.kind === "answer" ? String(back.status) : back.code);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
