import type { RelayEvent } from "../ports.ts";
import type { Family } from "./exposition.ts";
import { Counter, Histogram } from "./instruments.ts";

/** From one local commit up to the store's whole budget. */
export const ACCEPT_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 4, 10];
/** From a warm target next door up to the longest `timeout` of an endpoint. */
export const ATTEMPT_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];

/** The label of everything that is not a configured endpoint: its number has no bound. */
export const OTHER = "other";

/** The value of the label `endpoint`: only configured ones have one of their own. */
export function endpointLabel(
  endpoints: { has(id: string): boolean },
  endpoint: string | undefined,
): string {
  return endpoint !== undefined && endpoints.has(endpoint) ? endpoint : OTHER;
}

/** What this process did since its start, in Prometheus' terms. */
export class Metrics {
  readonly #labelOf: (endpoint: string | undefined) => string;
  readonly #accepted = new Counter(
    "holdfast_accepted_total",
    "Requests answered as success: stored, known already, or brought back to life.",
    ["endpoint", "status"],
  );
  readonly #refused = new Counter(
    "holdfast_refused_total",
    "Requests refused, by problem code.",
    ["endpoint", "code"],
  );
  readonly #attempts = new Counter(
    "holdfast_attempts_total",
    "Attempts at the target, by what they led to.",
    ["endpoint", "outcome"],
  );
  readonly #settled = new Counter(
    "holdfast_settled_total",
    "Deliveries that ended, by state and reason.",
    ["endpoint", "state", "reason"],
  );
  readonly #laneChanges = new Counter(
    "holdfast_lane_changes_total",
    "Changes of a lane as this process saw them.",
    ["endpoint", "change"],
  );
  readonly #storeErrors = new Counter(
    "holdfast_store_errors_total",
    "Failures of the store.",
    [],
  );
  readonly #acceptTime = new Histogram(
    "holdfast_accept_duration_seconds",
    "Time from a request's head to its answer.",
    "endpoint",
    ACCEPT_BOUNDS_S,
  );
  readonly #attemptTime = new Histogram(
    "holdfast_attempt_duration_seconds",
    "Time of an attempt until the answer's head or the failure.",
    "endpoint",
    ATTEMPT_BOUNDS_S,
  );

  constructor(endpoints: { has(id: string): boolean }) {
    this.#labelOf = (endpoint) => endpointLabel(endpoints, endpoint);
  }

  /** Counts one event. */
  readonly observe = (event: RelayEvent): void => {
    if (event.type === "store_error") return this.#storeErrors.add();
    const endpoint = this.#labelOf(event.endpoint);
    switch (event.type) {
      case "accepted":
        this.#accepted.add(endpoint, event.status);
        return this.#acceptTime.record(endpoint, event.ms);
      case "refused":
        return this.#refused.add(endpoint, event.code);
      case "attempt":
        this.#attempts.add(endpoint, event.outcome);
        return this.#attemptTime.record(endpoint, event.ms);
      case "settled":
        return this.#settled.add(endpoint, event.state, event.reason ?? "");
      case "lane":
        return this.#laneChanges.add(endpoint, event.change);
    }
  };

  families(): Family[] {
    return [
      this.#accepted,
      this.#refused,
      this.#attempts,
      this.#settled,
      this.#laneChanges,
      this.#storeErrors,
      this.#acceptTime,
      this.#attemptTime,
    ].map((instrument) => instrument.family());
  }
}
