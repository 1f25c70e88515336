import assert from "node:assert/strict";
import type { Answer } from "../helpers/answer.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { reached } from "../helpers/operator.ts";
import { accept, post } from "../helpers/post.ts";
import type { EndpointSettings, Relay } from "../helpers/program.ts";
import { type Sink, type SinkRequest, startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

/** Far below an hour, and more than any lane here has to wait by its own settings. */
const SOON_MS = 25_000;
const ASKED_S = 2;

/** One lane: what brings its deliveries into a state, and how many requests that takes. */
interface State {
  settings: Record<string, unknown>;
  script: (request: SinkRequest, index: number) => Answer;
  posts: number;
  requests: number;
}

const isFirst = (request: SinkRequest) => request.header("holdfast-attempt") === "1";

/** The states in which the deliveries of a lane are as the clock steps. */
const STATES = {
  "waiting after a failure": {
    settings: { retry: { schedule: ["2s"] } },
    script: (request) => ({ status: isFirst(request) ? 500 : 200 }),
    posts: 2,
    requests: 2,
  },
  "in flight": {
    settings: {},
    script: () => ({ delayMs: 2_000 }),
    posts: 2,
    requests: 2,
  },
  "behind an open breaker": {
    settings: { breaker: { failures: 1, open: "2s", cap: "2s" }, retry: { schedule: ["10m"] } },
    script: (_request, index) => ({ status: index === 0 ? 503 : 200 }),
    posts: 3,
    requests: 1,
  },
  "in strict order": {
    settings: { ordered: true, retry: { schedule: ["2s"] } },
    script: (_request, index) => ({ status: index === 0 ? 500 : 200 }),
    posts: 3,
    requests: 1,
  },
  "put off by the target": {
    settings: { retry: { schedule: ["10ms"] } },
    script: (request) =>
      isFirst(request) ? { status: 503, headers: [`retry-after: ${ASKED_S}`] } : {},
    posts: 2,
    requests: 2,
  },
  "behind a rate": {
    settings: { rateLimit: 2 },
    script: () => ({}),
    posts: 5,
    requests: 1,
  },
} satisfies Record<string, State>;

/** A lane in its state. */
class StandingLane {
  readonly sink: Sink;
  /** In order of acceptance. */
  readonly ids: string[] = [];

  constructor(readonly state: string, readonly id: string, readonly plan: State) {
    this.sink = startSink(plan.script);
  }

  async accept(relay: Relay): Promise<void> {
    const headers = { "idempotency-key": `event-${this.ids.length}` };
    this.ids.push((await accept(relay, this.id, { headers })).deliveryId);
  }

  async fill(relay: Relay): Promise<void> {
    const { posts, requests } = this.plan;
    for (let n = 1; n <= posts; n++) {
      await this.accept(relay);
      const seen = Math.min(n, requests);
      await until(() => this.sink.requests.length >= seen, { what: `${seen} ${this.state}` });
    }
  }

  async repeat(relay: Relay): Promise<void> {
    const again = await post(relay, this.id, { headers: { "idempotency-key": "event-0" } });
    assert.deepEqual([again.status, again.deliveryId], ["duplicate", this.ids[0]], this.state);
  }

  /** Each is delivered soon, by the last of its attempts, and no request was made beside those. */
  async areDelivered(relay: Relay): Promise<void> {
    for (const id of this.ids) {
      const { attempts } = await reached(relay, id, "delivered", SOON_MS);
      const numbers = this.sink.requests.filter((one) => one.header("holdfast-delivery-id") === id)
        .map((one) => Number(one.header("holdfast-attempt")));
      assert.deepEqual(numbers, attempts.map(({ n }) => n), this.state);
    }
  }
}

/** A lane for each state, each with a target of its own. */
export class StandingLanes implements AsyncDisposable {
  readonly #lanes = Object.entries<State>(STATES)
    .map(([state, plan], n) => new StandingLane(state, `lane-${n}`, plan));

  get endpoints(): EndpointSettings[] {
    return this.#lanes.map(({ id, sink, plan }) => endpoint(id, sink, plan.settings));
  }

  /** Brings every lane into its state. */
  async fill(relay: Relay): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.fill(relay)));
  }

  /** Every sender sends its first event again, and then another one. */
  async goOn(relay: Relay): Promise<void> {
    await Promise.all(this.#lanes.map(async (lane) => {
      await lane.repeat(relay);
      await lane.accept(relay);
    }));
  }

  async areDelivered(relay: Relay): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.areDelivered(relay)));
  }

  /** The targets' deliveries in order of arrival, attempts after the first left out. */
  isInOrder(): void {
    const { sink, ids } = this.#of("in strict order");
    const arrived = sink.requests.map((one) => one.header("holdfast-delivery-id"));
    assert.deepEqual([...new Set(arrived)], ids);
  }

  /** No target that asked for a pause had less. */
  arePausesKept(): void {
    const { sink, ids } = this.#of("put off by the target");
    for (const id of ids) {
      const [first, second] = sink.requests.filter((one) =>
        one.header("holdfast-delivery-id") === id
      );
      assert(second.atMs - first.atMs >= ASKED_S * 1_000, id);
    }
  }

  #of(state: keyof typeof STATES): StandingLane {
    return this.#lanes.find((lane) => lane.state === state)!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { sink } of this.#lanes) await sink[Symbol.asyncDispose]();
  }
}
