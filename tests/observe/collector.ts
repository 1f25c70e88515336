/** An attribute value as OTLP/JSON writes it. */
interface AnyValue {
  stringValue?: string;
  doubleValue?: number;
  intValue?: string | number;
}

interface Attribute {
  key: string;
  value: AnyValue;
}

interface RawSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  status?: { code?: number };
}

interface RawMetric {
  name: string;
  sum?: { dataPoints: { attributes: Attribute[]; asDouble?: number; asInt?: string }[] };
  histogram?: { dataPoints: { attributes: Attribute[]; count: string | number }[] };
}

export interface Span extends Omit<RawSpan, "attributes"> {
  scope: string;
  attributes: Record<string, string | number | undefined>;
}

interface Scoped {
  scope?: { name?: string };
  spans?: RawSpan[];
  metrics?: RawMetric[];
}

/** A receiver of OTLP over HTTP with JSON bodies (https://opentelemetry.io/docs/specs/otlp/). */
export class Collector implements AsyncDisposable {
  readonly spans: Span[] = [];
  readonly metrics: RawMetric[] = [];
  /** All bodies as they came. */
  text = "";
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    const listen = { hostname: "127.0.0.1", port: 0, onListen() {} };
    this.#server = Deno.serve(listen, async (request) => {
      this.#take(await request.text());
      return Response.json({});
    });
  }

  /** Variables that make a Deno program send everything here, soon. */
  get env(): Record<string, string> {
    return {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${this.#server.addr.port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "100",
      OTEL_METRIC_EXPORT_INTERVAL: "500",
    };
  }

  /** Spans of this name that belong to a delivery. */
  of(name: string, deliveryId: string): Span[] {
    return this.spans.filter((span) =>
      span.name === name && span.attributes["holdfast.delivery_id"] === deliveryId
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  #take(text: string): void {
    this.text += text;
    const body = JSON.parse(text) as Record<string, Record<string, Scoped[]>[]>;
    for (const { scopeSpans = [] } of body.resourceSpans ?? []) {
      for (const { scope, spans = [] } of scopeSpans) {
        this.spans.push(...spans.map((span) => shownSpan(span, scope?.name ?? "")));
      }
    }
    for (const { scopeMetrics = [] } of body.resourceMetrics ?? []) {
      for (const { metrics = [] } of scopeMetrics) this.metrics.push(...metrics);
    }
  }
}

function shownSpan({ attributes, ...span }: RawSpan, scope: string): Span {
  const shown = attributes.map(({ key, value: { stringValue, doubleValue, intValue } }) =>
    [key, stringValue ?? doubleValue ?? Number(intValue)] as const
  );
  return { ...span, scope, attributes: Object.fromEntries(shown) };
}
