import { trace } from "@opentelemetry/api";
import type { Transport } from "../../flow/transport.ts";
import type { Observe } from "../../ports.ts";
import { meterEvents } from "./meters.ts";
import { inAcceptSpan, withAttemptSpans, withholdRuntimeSpan } from "./spans.ts";

type Handler<Remote> = (request: Request, remote: Remote) => Promise<Response>;

/** Wraps the parts of the relay that spans and figures come from. */
export interface Telemetry {
  observe: Observe;
  transport(inner: Transport): Transport;
  handler<Remote>(inner: Handler<Remote>): Handler<Remote>;
}

/** `/hook/ID`, and the root, where relay mode takes requests to any allowed target. */
const ACCEPTING = /^[^:]+:\/\/[^/]*\/(?:hook\/([^/?]*)|\?)/;

/**
 * Telemetry through the OpenTelemetry API, whose providers Deno registers where the
 * variable `OTEL_DENO` is true. `endpoints` bounds what may be a label.
 */
export function createTelemetry(endpoints: { has(id: string): boolean }): Telemetry {
  const tracer = trace.getTracer("holdfast");
  return {
    observe: meterEvents(endpoints),
    transport: (inner) => withAttemptSpans(tracer, inner),
    handler: (inner) => (request, remote) => {
      withholdRuntimeSpan();
      const accepting = ACCEPTING.exec(request.url);
      if (accepting === null) return inner(request, remote);
      const endpoint = endpoints.has(accepting[1]) ? accepting[1] : undefined;
      return inAcceptSpan(tracer, request, endpoint, (traced) => inner(traced, remote));
    },
  };
}
