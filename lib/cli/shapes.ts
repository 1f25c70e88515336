/** What the API answers, as far as commands show it. */

export interface AttemptView {
  n: number;
  at: string;
  ms: number;
  status?: number;
  code?: string;
  outcome: string;
  retryAt?: string;
}

export interface DeliveryView {
  id: string;
  endpoint: string;
  eventId: string;
  state: string;
  reason?: string;
  method: string;
  path: string;
  query: string;
  bytes: number;
  sha256: string;
  acceptedAt: string;
  dueAt?: string;
  settledAt?: string;
  attemptCount: number;
  replays: number;
  attempts: AttemptView[];
  headers?: [string, string][];
}

export interface PageView<T> {
  items: T[];
  cursor: string | null;
}

export interface FateView {
  health: string;
  paused: boolean;
  breaker: { state: string; until?: string; cause?: string };
  counts: { pending: number; inFlight: number; dead: number; countedUpTo: number };
  oldestPendingAt?: string;
  blockedBy?: { deliveryId: string; until?: string };
}

export interface LaneView extends FateView {
  endpoint: string;
}

export interface EndpointView extends FateView {
  id: string;
  targetUrl: string;
  provider?: string;
}

export interface ConditionView {
  type: string;
  severity: "info" | "warning" | "critical";
  since: string;
  subject?: string;
  detail: string;
}

export interface StatusView {
  version: string;
  scheduler: { mode: string; queue: string };
  lanes: LaneView[];
  counts: FateView["counts"];
  oldestPendingAt?: string;
  conditions: ConditionView[];
}

export interface TestView {
  ok: boolean;
  ms: number;
  status?: number;
  code?: string;
}

export interface JobView {
  id: string;
  state: "running" | "done" | "cancelled";
  total: number;
  done: number;
  skipped: number;
}

/** What a dry run of a replay finds. */
export interface ReplayPreview {
  count: number;
  oldest?: string;
  newest?: string;
  alreadyDelivered: number;
}

/** A live event. */
export interface EventView {
  type: string;
  at: string;
  endpoint: string;
  deliveryId?: string;
  eventId?: string;
  status?: string | number;
  code?: string;
  outcome?: string;
  n?: number;
  ms?: number;
  retryAt?: string;
  state?: string;
  reason?: string;
  change?: string;
}

/** A watched hook, as `GET /github` lists it. */
export interface GithubWatchView {
  endpoint: string;
  kind: string;
  owner?: string;
  checkedAt?: string;
  repaired: number;
  repairing: number;
  open: number;
  trouble?: { detail: string };
  setup: { state: string; drifts: { detail: string }[] };
  findings: {
    guid: string;
    event: string;
    kind: string;
    tries: number;
    state: string;
    foundAt: string;
  }[];
}
