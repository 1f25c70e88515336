import type { Sink, SinkRequest } from "./sink.ts";
import { until } from "./wait.ts";

/** Waits for the first attempt of a delivery at one of the targets. */
export function arrival(
  targets: Sink | readonly Sink[],
  { deliveryId }: { deliveryId: string },
): Promise<SinkRequest> {
  return until(
    () => attemptsOf(targets, deliveryId)[0],
    { what: `delivery ${deliveryId} at its target` },
  );
}

/** Attempts of a delivery that reached one of the targets so far. */
export const attemptsOf = (targets: Sink | readonly Sink[], deliveryId: string): SinkRequest[] =>
  [targets].flat().flatMap((sink) =>
    sink.requests.filter((request) => request.header("holdfast-delivery-id") === deliveryId)
  );

/** Times between the arrivals of successive requests, in milliseconds. */
export const gapsMs = (requests: readonly SinkRequest[]): number[] =>
  requests.slice(1).map((request, index) => request.atMs - requests[index].atMs);
