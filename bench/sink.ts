import { type Child, freePort, pause, start } from "./child.ts";
import type { Spread } from "./numbers.ts";

/** What has come so far; times are epoch milliseconds. */
export interface SinkProgress {
  unique: number;
  duplicates: number;
  firstAtMs: number;
  lastAtMs: number;
}

/** The same with the times from sending to arrival. */
export interface SinkReport extends SinkProgress, Spread {}

export interface Missing {
  numbers: number[];
}

const LOOK_MS = 100;

/** The target process, and what it knows. */
export class Sink implements AsyncDisposable {
  private constructor(private readonly child: Child) {}

  static async start(port: number = freePort()): Promise<Sink> {
    const args = ["bench/programs/sink.ts", `${port}`];
    return new Sink(await start({ args, port, flags: ["--no-prompt", "-A"] }));
  }

  get port(): number {
    return this.child.port;
  }

  get pid(): number {
    return this.child.pid;
  }

  progress(): Promise<SinkProgress> {
    return this.#ask("/progress");
  }

  report(): Promise<SinkReport> {
    return this.#ask("/report");
  }

  /** Numbers below `below` that never came, the first 1,000 of them. */
  missing(below: number): Promise<Missing> {
    return this.#ask(`/missing?below=${below}`);
  }

  reset(): Promise<SinkProgress> {
    return this.#ask("/reset");
  }

  /** Waits until so many different posts have come, or nothing new came for `patienceMs`. */
  async arrived(count: number, patienceMs: number, longestMs = Infinity): Promise<SinkProgress> {
    const endMs = performance.now() + longestMs;
    let known = await this.progress();
    let changedMs = performance.now();
    while (known.unique < count && performance.now() < Math.min(endMs, changedMs + patienceMs)) {
      await pause(LOOK_MS);
      const now = await this.progress();
      if (now.unique !== known.unique) changedMs = performance.now();
      known = now;
    }
    return known;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.child.end();
  }

  async #ask<T>(target: string): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${this.port}${target}`);
    return await response.json();
  }
}
