import { type Meter, metrics } from "@opentelemetry/api";
import type { Observe } from "../../ports.ts";
import { ACCEPT_BOUNDS_S, ATTEMPT_BOUNDS_S, endpointLabel } from "../metrics.ts";

/** Counts events in OpenTelemetry's terms; the same figures as on `/metrics`. */
export function meterEvents(endpoints: { has(id: string): boolean }): Observe {
  const meter = metrics.getMeter("holdfast");
  const accepted = meter.createCounter("holdfast.accepted");
  const refused = meter.createCounter("holdfast.refused");
  const attempts = meter.createCounter("holdfast.attempts");
  const settled = meter.createCounter("holdfast.settled");
  const laneChanges = meter.createCounter("holdfast.lane.changes");
  const storeErrors = meter.createCounter("holdfast.store.errors");
  const acceptTime = seconds(meter, "holdfast.accept.duration", ACCEPT_BOUNDS_S);
  const attemptTime = seconds(meter, "holdfast.attempt.duration", ATTEMPT_BOUNDS_S);
  return (event) => {
    if (event.type === "store_error") return storeErrors.add(1);
    const endpoint = endpointLabel(endpoints, event.endpoint);
    switch (event.type) {
      case "accepted":
        accepted.add(1, { endpoint, status: event.status });
        return acceptTime.record(event.ms / 1_000, { endpoint });
      case "refused":
        return refused.add(1, { endpoint, code: event.code });
      case "attempt":
        attempts.add(1, { endpoint, outcome: event.outcome });
        return attemptTime.record(event.ms / 1_000, { endpoint });
      case "settled":
        return settled.add(1, { endpoint, state: event.state, reason: event.reason ?? "" });
      case "lane":
        return laneChanges.add(1, { endpoint, change: event.change });
    }
  };
}

function seconds(meter: Meter, name: string, bounds: readonly number[]) {
  return meter.createHistogram(name, {
    unit: "s",
    advice: { explicitBucketBoundaries: [...bounds] },
  });
}
