import { isValidSpanId, isValidTraceId, type SpanContext } from "@opentelemetry/api";
import type { HeaderList } from "../../model.ts";

/** https://www.w3.org/TR/trace-context/#traceparent-header; longer ones are of later versions. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;
const HEADER = "traceparent";

/** The trace that a `traceparent` header continues; `undefined` where it names none. */
export function parseTraceparent(value: string | null | undefined): SpanContext | undefined {
  const [, traceId = "", spanId = "", flags = ""] = TRACEPARENT.exec(value ?? "") ?? [];
  if (!isValidTraceId(traceId) || !isValidSpanId(spanId)) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags, 16) & 1, isRemote: true };
}

/** The header that makes `span` the parent of whatever the receiver does. */
export function traceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

/** The trace that a request's header lines continue. */
export function traceOf(headers: HeaderList): SpanContext | undefined {
  return parseTraceparent(headers.find(([name]) => name === HEADER)?.[1]);
}

/** The header lines with `span` as the parent instead of the one they name. */
export function withTrace(headers: HeaderList, span: SpanContext): HeaderList {
  return [...headers.filter(([name]) => name !== HEADER), [HEADER, traceparent(span)]];
}
