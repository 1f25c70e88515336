import type { Condition } from "../../decide/conditions.ts";
import { githubConditions, type WatchSnapshot } from "../../decide/github/conditions.ts";
import { freshWatch } from "../../decide/github/watch.ts";
import type { GithubSettings } from "../../github_settings.ts";
import type { Clock, Log } from "../../ports.ts";
import type { Store } from "../../store/kv.ts";
import { listFindings, readWatch, wantPass } from "../../store/watch.ts";
import { type AskGithub, githubClient } from "./client.ts";
import { takeWatch } from "./held_watch.ts";
import { runPass } from "./pass.ts";
import type { Source } from "./source.ts";

export interface WatchdogParts {
  sources: readonly Source[];
  settings: GithubSettings;
  publicUrl?: string;
  store: Store;
  clock: Clock;
  log: Log;
  /** Names this process in leases. */
  owner: string;
  /** Whether this process's store has been without trouble lately. */
  isStoreHealthy: () => boolean;
}

/** A watched hook with all that is known of it. */
export interface WatchView extends WatchSnapshot {
  source: Source;
}

/** The first look waits until the start is over: libraries are loaded with it. */
const START_PAUSE_MS = 2_000;
/** Bounds of the time between two looks at whether a pass is due. */
const MIN_LOOK_MS = 1_000;
const MAX_LOOK_MS = 60_000;

/**
 * Watches GitHub's delivery history for what never got here and has GitHub deliver it
 * again. Any number of processes may run one: the store says who does a pass, and when.
 */
export class Watchdog {
  readonly #parts: WatchdogParts;
  readonly #clients: ReadonlyMap<string, AskGithub>;
  readonly #abort = new AbortController();
  readonly #startedAtMs: number;
  #cancelTimer: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #lookAgain = false;

  constructor(parts: WatchdogParts) {
    this.#parts = parts;
    this.#startedAtMs = parts.clock.nowMs();
    this.#clients = new Map(parts.sources.map((source) => [
      source.endpoint,
      githubClient(parts.settings.apiUrl, source.credentials),
    ]));
  }

  get isConfigured(): boolean {
    return this.#parts.sources.length > 0;
  }

  start(): void {
    if (this.isConfigured) this.#lookIn(START_PAUSE_MS);
  }

  /** Ends a pass that is under way; its hook is given back. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#cancelTimer?.();
    await this.#looking;
  }

  /** Does the passes that are due. Called during a look, it looks once more afterwards. */
  look(): Promise<void> {
    if (!this.isConfigured || this.#abort.signal.aborted) return Promise.resolve();
    this.#lookAgain = this.#looking !== undefined;
    this.#looking ??= this.#lookAtAll().finally(() => this.#looking = undefined);
    return this.#looking;
  }

  /** Wants a pass over every hook now, with a fresh round of tries for what was given up. */
  async repairNow(): Promise<void> {
    const { sources, store, clock } = this.#parts;
    for (const { endpoint } of sources) await wantPass(store, endpoint, clock.nowMs());
    this.look();
  }

  /** All that is known of the watched hooks. */
  views(): Promise<WatchView[]> {
    const { sources, store } = this.#parts;
    return Promise.all(sources.map(async (source) => {
      const { row } = await readWatch(store, source.endpoint);
      const findings = await listFindings(store, source.endpoint);
      const { endpoint } = source;
      return { source, endpoint, row: row ?? freshWatch(this.#startedAtMs), findings };
    }));
  }

  /** What of the watched hooks needs an operator's attention. */
  async conditions(): Promise<Condition[]> {
    const nowMs = this.#parts.clock.nowMs();
    return (await this.views()).flatMap((view) => githubConditions(view, nowMs));
  }

  async #lookAtAll(): Promise<void> {
    const { sources, clock } = this.#parts;
    let nextAtMs: number;
    do {
      this.#lookAgain = false;
      nextAtMs = Math.min(...await Promise.all(sources.map((source) => this.#lookAt(source))));
    } while (this.#lookAgain && !this.#abort.signal.aborted);
    this.#lookIn(nextAtMs - clock.nowMs());
  }

  /** Does the hook's pass if it is due; returns when to look again. */
  async #lookAt(source: Source): Promise<number> {
    const { store, owner, log, clock } = this.#parts;
    const { endpoint } = source;
    try {
      const taken = await takeWatch(store, owner, endpoint, this.#startedAtMs);
      if ("lookAtMs" in taken) return taken.lookAtMs;
      const { settings, ...parts } = this.#parts;
      const askGithub = this.#clients.get(endpoint)!;
      const { held } = taken;
      const { signal } = this.#abort;
      await runPass({ ...parts, ...settings, source, held, askGithub, signal });
      return held.row.nextPassAtMs;
    } catch (error) {
      log("error", "github_pass_failed", { endpoint, message: (error as Error).message });
      return clock.nowMs() + MAX_LOOK_MS;
    }
  }

  #lookIn(ms: number): void {
    if (this.#abort.signal.aborted) return;
    this.#cancelTimer?.();
    const delayMs = Math.min(MAX_LOOK_MS, Math.max(MIN_LOOK_MS, ms));
    this.#cancelTimer = this.#parts.clock.after(delayMs, () => this.look());
  }
}
