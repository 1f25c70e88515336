import type { AttemptView, FateView } from "./shapes.ts";
import type { Cell } from "./table.ts";
import { type Colour, safe } from "./text.ts";
import { relative } from "./time.ts";

/** How states, outcomes and lanes look in every command. */

const STATE_COLOURS: Readonly<Record<string, Colour>> = {
  pending: "yellow",
  in_flight: "cyan",
  delivered: "green",
  dead: "red",
  retry: "yellow",
  refunded: "dim",
  enabled: "green",
  failing: "yellow",
  disabled: "red",
  critical: "red",
  warning: "yellow",
  info: "dim",
  ok: "green",
};

/** A word with the colour it has everywhere. */
export function word(text: string): Cell {
  const colour = STATE_COLOURS[text];
  return colour === undefined ? safe(text) : { text: safe(text), colour };
}

/** What came back of an attempt: a status, or why there was none. */
export function answer({ status, code }: Pick<AttemptView, "status" | "code">): string {
  return status === undefined ? safe(code ?? "") : String(status);
}

/** What holds a lane, gravest first; its health where nothing does. */
export function laneState({ paused, health, breaker }: FateView, nowMs: number): Cell {
  if (health === "disabled") return word("disabled");
  if (paused) return { text: "paused", colour: "yellow" };
  if (breaker.state === "open") {
    const until = breaker.until === undefined ? "" : `, probe ${relative(breaker.until, nowMs)}`;
    return { text: `open${until}`, colour: "red" };
  }
  return word(health === "enabled" ? "ok" : health);
}

/** A count that may have ended at its bound. */
export function bounded(count: number, { countedUpTo }: FateView["counts"]): string {
  return count >= countedUpTo ? `${count}+` : String(count);
}

/** Several things that take `s`, or one that does not. */
export function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
