import assert from "node:assert/strict";
import { monotonicFactory } from "ulid";
import { parseConfig } from "../../lib/config.ts";
import { afterWrites } from "../../lib/boot/after_writes.ts";
import { createRelay, type Relay } from "../../lib/flow/relay.ts";
import { createTransport } from "../../lib/flow/transport.ts";
import { LiveEvents } from "../../lib/observe/live/live.ts";
import { Metrics } from "../../lib/observe/metrics.ts";
import { Committer } from "../../lib/store/commit.ts";
import { PROVIDERS, senderFor } from "../../lib/verify/sender.ts";
import { createApp } from "../../routes/app.ts";
import { TestClock } from "../helpers/clock.ts";
import { CountingKv } from "../helpers/counting_kv.ts";
import { ADMIN_TOKEN } from "../helpers/program.ts";
import { type Sink, startSink } from "../helpers/sink.ts";

const HOST = "127.0.0.1";
const REMOTE: Deno.NetAddr = { transport: "tcp", hostname: "127.0.0.1", port: 1 };

export interface CountedRelay {
  relay: Relay;
  ask: (path: string, init?: RequestInit) => Promise<Response>;
}

/** Relays in this process on one real store that counts, and a target. */
export class CountedRelays implements AsyncDisposable {
  readonly #clock = new TestClock();
  readonly #started: Relay[] = [];

  private constructor(
    readonly sink: Sink,
    readonly counting: CountingKv,
    readonly endpoints: readonly string[],
  ) {}

  static async open(endpoints: readonly string[]): Promise<CountedRelays> {
    return new CountedRelays(startSink(), new CountingKv(await Deno.openKv(":memory:")), endpoints);
  }

  /** A relay, and its answers to requests, as another process on the same store would have them. */
  make(): CountedRelay {
    const { counting: { kv } } = this;
    const clock = this.#clock;
    const config = this.#config();
    const store = { kv, committer: new Committer(kv, clock), clock };
    const owner = `process-${this.#started.length}`;
    const live = new LiveEvents({ store, clock, owner, onError: () => {} });
    const relay = createRelay({
      config,
      store,
      transport: createTransport({ privateTargets: config.privateTargets, clock }),
      senderOf: (id) => senderFor(config.endpoints.get(id)!),
      fingerprintOf: (url) => url,
      clock,
      afterWrites,
      random: () => 0,
      nextId: monotonicFactory(),
      owner,
      observe: live.observe,
      log: () => {},
    });
    this.#started.push(relay);
    const app = createApp(relay, config, { live, metrics: new Metrics(config.endpoints) });
    const ask = (path: string, init: RequestInit = {}) => {
      const headers = new Headers(init.headers);
      headers.set("host", HOST);
      return app(new Request(`http://${HOST}${path}`, { ...init, headers }), REMOTE);
    };
    return { relay, ask };
  }

  #config() {
    const endpoints = this.endpoints.map((id) => ({
      id,
      ...{ targetUrl: this.sink.url(), retry: { schedule: ["10ms"] }, breaker: false },
    }));
    const config = parseConfig({
      env: {
        ENDPOINTS: JSON.stringify(endpoints),
        ADMIN_TOKEN,
        ALLOW_PRIVATE_TARGETS: "127.0.0.1",
        SCHEDULER: "sweep",
      },
      endpointsFile: undefined,
      providers: PROVIDERS,
      defaultHost: "127.0.0.1",
    });
    assert(!("faults" in config));
    return config;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const relay of this.#started) await relay.stop();
    this.#clock[Symbol.dispose]();
    this.counting.kv.close();
    await this.sink[Symbol.asyncDispose]();
  }
}
