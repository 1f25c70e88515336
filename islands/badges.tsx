import { relative } from "./format.tsx";
import type { DeliveryView, LaneView } from "./views.ts";

const STATES: Record<DeliveryView["state"], { tone: string; text: string }> = {
  pending: { tone: "wait", text: "pending" },
  in_flight: { tone: "busy", text: "in flight" },
  delivered: { tone: "good", text: "delivered" },
  dead: { tone: "bad", text: "dead" },
};

/** A delivery's state, in a word and a colour. */
export function StateBadge({ state, reason }: Pick<DeliveryView, "state" | "reason">) {
  const { tone, text } = STATES[state];
  return <span class={`badge ${tone}`}>{reason === undefined ? text : `${text}: ${reason}`}</span>;
}

type Fate = Pick<LaneView, "health" | "disabledBy" | "paused" | "breaker"> & { nowMs: number };

/** How a lane fares: health, pause, breaker. */
export function FateBadges({ health, disabledBy, paused, breaker, nowMs }: Fate) {
  const tone = health === "enabled" ? "good" : health === "failing" ? "warn" : "bad";
  return (
    <span class="badges">
      <span class={`badge ${tone}`}>
        {health}
        {disabledBy === undefined ? "" : ` by ${disabledBy}`}
      </span>
      {paused && <span class="badge warn">paused</span>}
      {breaker.state === "open" && (
        <span class="badge bad" title={breaker.until && `until ${breaker.until}`}>
          breaker open, {probeText(breaker, nowMs)}
        </span>
      )}
    </span>
  );
}

/** When a breaker that is open tries its target again. */
export function probeText({ until, probing }: LaneView["breaker"], nowMs: number): string {
  if (probing) return "probing";
  const atMs = until === undefined ? nowMs : Date.parse(until);
  return atMs > nowMs ? `probe ${relative(atMs, nowMs)}` : "probe is due";
}
