import { generateKeyPairSync } from "node:crypto";
import type { Condition } from "../../lib/decide/conditions.ts";
import { eventKey } from "../../lib/decide/event_id.ts";
import type { Source } from "../../lib/flow/recover/source.ts";
import { Watchdog, type WatchView } from "../../lib/flow/recover/watchdog.ts";
import type { Clock } from "../../lib/ports.ts";
import { accept } from "../../lib/store/accept.ts";
import { Committer } from "../../lib/store/commit.ts";
import type { Store } from "../../lib/store/kv.ts";
import { StandInGithub, TOKEN } from "../helpers/github.ts";

export const S = 1_000, M = 60 * S, H = 60 * M, D = 24 * H;
export const GRACE_MS = 2 * M;
export const INTERVAL_MS = 5 * M;

/**
 * A clock that stands until it is moved, but for the pause between two requests, which it
 * skips. Other timers never ring: a test looks by itself.
 */
export class HandClock implements Clock {
  #nowMs = Date.UTC(2026, 4, 14, 9, 30);

  nowMs = (): number => this.#nowMs;
  monotonicMs = (): number => this.#nowMs;

  after(delayMs: number, fn: () => void): () => void {
    if (delayMs !== S) return () => {};
    const timer = setTimeout(() => {
      this.#nowMs += delayMs;
      fn();
    });
    return () => clearTimeout(timer);
  }

  move(ms: number): void {
    this.#nowMs += ms;
  }
}

export const ENDPOINT = "gh";

const REPO_SOURCE: Source = {
  endpoint: ENDPOINT,
  kind: "repo",
  owner: "octo/repo",
  deliveriesPath: "/repos/octo/repo/hooks/1/deliveries",
  setupPaths: { hook: "/repos/octo/repo/hooks/1" },
  credentials: { token: TOKEN },
  events: [],
};

/** Writes live in real time: the scene's clock leaps, and each of its timers moves it. */
const WRITING_CLOCK: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, fn) {
    if (delayMs > 1) return () => {};
    const timer = setTimeout(fn, delayMs);
    return () => clearTimeout(timer);
  },
};

/** A watchdog on a store in memory, a stand-in GitHub, and a receiver that stores claims. */
export class Scene implements AsyncDisposable {
  readonly clock = new HandClock();
  readonly github: StandInGithub;
  /** GUIDs that the receiver stored, in order. */
  readonly stored: string[] = [];
  /** The receiver answers 503 and stores nothing. */
  isReceiverDown = false;
  isStoreHealthy = true;
  readonly logged: { event: string; [field: string]: unknown }[] = [];
  store!: Store;
  watchdog!: Watchdog;
  readonly #receiver: Deno.HttpServer<Deno.NetAddr>;
  readonly #opened: Deno.Kv[] = [];

  private constructor(private readonly source: Source) {
    this.#receiver = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => this.#receive(request),
    );
    const { port } = this.#receiver.addr;
    this.github = new StandInGithub({ url: `http://127.0.0.1:${port}/hook/${ENDPOINT}` });
    this.github.nowMs = this.clock.nowMs;
  }

  /** A relay that starts for the first time. */
  static async start(source: Partial<Source> = {}): Promise<Scene> {
    const scene = new Scene({ ...REPO_SOURCE, ...source });
    await scene.open(":memory:");
    await scene.pass();
    return scene;
  }

  /** Starts (again) on a store; a path of a file keeps what is stored. */
  async open(path: string): Promise<void> {
    const kv = await Deno.openKv(path);
    this.#opened.push(kv);
    const committer = new Committer(kv, WRITING_CLOCK, Infinity);
    this.store = { kv, committer, clock: this.clock };
    this.watchdog = this.process("first");
  }

  /** A further process on the same store. */
  process(owner: string): Watchdog {
    const { store, clock, github: { url: apiUrl } } = this;
    return new Watchdog({
      sources: [this.source],
      settings: { apiUrl, graceMs: GRACE_MS, intervalMs: INTERVAL_MS },
      store,
      clock,
      owner,
      log: (_level, event, fields = {}) => this.logged.push({ ...fields, event }),
      isStoreHealthy: () => this.isStoreHealthy,
    });
  }

  /** Does what is due now, and waits until GitHub has sent what was asked for. */
  async pass(): Promise<void> {
    await this.watchdog.look();
    await this.github.quiet();
  }

  /** Lets time go by, with a look each interval. */
  async live(ms: number, stepMs: number = INTERVAL_MS): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.clock.move(Math.min(stepMs, left));
      await this.pass();
    }
  }

  async view(): Promise<WatchView> {
    return (await this.watchdog.views())[0];
  }

  async conditions(type: Condition["type"] = "watchdog_failing"): Promise<Condition[]> {
    return (await this.watchdog.conditions()).filter((condition) => condition.type === type);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watchdog.stop();
    await this.github[Symbol.asyncDispose]();
    await this.#receiver.shutdown();
    for (const kv of this.#opened) kv.close();
  }

  async #receive(request: Request): Promise<Response> {
    await request.body?.cancel();
    const guid = request.headers.get("x-github-delivery") ?? "";
    if (this.isReceiverDown) return new Response(null, { status: 503 });
    const isNew = await storeEvent(this.store, guid);
    if (isNew) this.stored.push(guid);
    return new Response(null, { status: 200 });
  }
}

let counter = 0;

/** Stores a delivery of the event; `false` where one is stored already. */
export async function storeEvent(store: Store, guid: string): Promise<boolean> {
  const nowMs = store.clock.nowMs();
  const stored = await accept(store, {
    delivery: {
      id: `d${counter++}`,
      endpoint: ENDPOINT,
      eventId: guid,
      state: "pending",
      method: "POST",
      path: "",
      query: "",
      bytes: 0,
      chunks: 1,
      sha256: "",
      acceptedAtMs: nowMs,
      dueAtMs: nowMs,
      attemptCount: 0,
      attempts: [],
      replays: 0,
      round: { attemptsBefore: 0, refunds: 0 },
    },
    rows: [],
    rowBytes: 0,
    claim: { eventKey: eventKey(guid), windowMs: 30 * D, replaces: null },
  });
  return stored !== false;
}

/** A key that GitHub does not know. */
export function strangersKey(): string {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}
