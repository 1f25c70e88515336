import assert from "node:assert/strict";
import type { Relay } from "./program.ts";
import { until } from "./wait.ts";

export interface AttemptView {
  n: number;
  at: string;
  ms: number;
  status?: number;
  code?: string;
  location?: string;
  outcome: "delivered" | "retry" | "dead" | "refunded";
  retryAt?: string;
}

export interface DeliveryView {
  id: string;
  endpoint: string;
  eventId: string;
  state: "pending" | "in_flight" | "delivered" | "dead";
  reason?: string;
  bytes: number;
  sha256: string;
  acceptedAt: string;
  dueAt?: string;
  attemptCount: number;
  replays: number;
  attempts: AttemptView[];
}

export interface DeliveryPage {
  items: DeliveryView[];
  cursor: string | null;
}

/** Reads JSON from the operator's API; anything but 2xx fails the test. */
export async function read<T>(relay: Relay, path: string, init?: RequestInit): Promise<T> {
  const response = await relay.api(path, init);
  const text = await response.text();
  assert(response.ok, `${path} answered ${response.status} ${text}`);
  return JSON.parse(text);
}

/** The status of an answer, with its body read and dropped. */
export async function statusOf(response: Promise<Response> | Response): Promise<number> {
  const { status, body } = await response;
  await body?.cancel();
  return status;
}

export const delivery = (relay: Relay, id: string): Promise<DeliveryView> =>
  read(relay, `/deliveries/${id}`);

/** One page; the query is written as in a URL. */
export const page = (relay: Relay, query: string): Promise<DeliveryPage> =>
  read(relay, `/deliveries?${query}`);

/** All deliveries that match, over all pages, newest first. */
export async function allDeliveries(relay: Relay, query: string): Promise<DeliveryView[]> {
  const found: DeliveryView[] = [];
  let cursor: string | null = null;
  do {
    const next: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { items, cursor: following }: DeliveryPage = await page(relay, query + next);
    found.push(...items);
    cursor = following;
  } while (cursor !== null);
  return found;
}

/** Waits until no delivery is waiting or under way. */
export function nothingOpen(relay: Relay, withinMs: number): Promise<unknown> {
  const states = ["pending", "in_flight"];
  const isQuiet = async () => {
    const lists = await Promise.all(states.map((state) => allDeliveries(relay, `state=${state}`)));
    return lists.flat().length === 0;
  };
  return until(isQuiet, { what: "everything to be settled", withinMs });
}

/** Waits until the delivery is in `state` and returns it. */
export function reached(
  relay: Relay,
  id: string,
  state: DeliveryView["state"],
  withinMs = 60_000,
): Promise<DeliveryView> {
  let last: DeliveryView | undefined;
  return until(async () => {
    last = await delivery(relay, id);
    return last.state === state ? last : undefined;
  }, { withinMs, what: () => `delivery ${id} to be ${state}; it is ${JSON.stringify(last)}` });
}

/** Asks for a replay; returns the HTTP status. */
export const replay = (relay: Relay, id: string): Promise<number> =>
  statusOf(relay.api(`/deliveries/${id}/replay`, { method: "POST" }));
