import type { RelayEvent } from "../ports.ts";

/** Store errors are reported for so long after they happened. */
const KEPT_MS = 5 * 60_000;
const MOST_KEPT = 10_000;

/** Remembers this process's late troubles with the store, for the status. */
export class Faults {
  #atMs: number[] = [];

  /** Takes note of an event, if it tells of such trouble. */
  note(event: RelayEvent): void {
    const failed = event.type === "store_error" ||
      (event.type === "refused" && event.code === "store_unavailable");
    if (!failed) return;
    this.#atMs.push(event.atMs);
    if (this.#atMs.length > MOST_KEPT) this.#atMs.shift();
  }

  /** How many there were lately, and when the first of them was. */
  recent(nowMs: number): { count: number; firstAtMs?: number } {
    this.#atMs = this.#atMs.filter((atMs) => nowMs - atMs < KEPT_MS);
    return { count: this.#atMs.length, firstAtMs: this.#atMs[0] };
  }
}
