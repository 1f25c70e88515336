import assert from "node:assert/strict";
import { type BreakerState, CLOSED } from "../../lib/decide/breaker.ts";
import { type Gate, gate } from "../../lib/decide/gate.ts";
import { disabled, HEALTHY } from "../../lib/decide/health.ts";

const NOW = 1_000;
const OPEN: BreakerState = { ...CLOSED, phase: "open", openUntilMs: NOW };
const live = { owner: "p1", deliveryId: "a", untilMs: NOW + 1 };
const failing = { ...HEALTHY, status: "failing" } as const;
const lane = { paused: false, health: HEALTHY, breaker: CLOSED };

const TABLE: [title: string, lane: Parameters<typeof gate>[0], expected: Gate][] = [
  ["sends from a healthy lane", lane, { go: "all" }],
  ["sends from a failing lane", { ...lane, health: failing }, { go: "all" }],
  ["holds a paused lane", { ...lane, paused: true }, { go: "none", why: "paused" }],
  ["holds a disabled lane", { ...lane, health: disabled(HEALTHY) }, {
    go: "none",
    why: "disabled",
  }],
  ["lets no probe out of a paused lane", { ...lane, paused: true, breaker: OPEN }, {
    go: "none",
    why: "paused",
  }],
  ["holds an open lane until its time", {
    ...lane,
    breaker: { ...OPEN, openUntilMs: NOW + 5 },
  }, { go: "none", why: "open", untilMs: NOW + 5 }],
  ["probes once the wait is over", { ...lane, breaker: OPEN }, { go: "probe" }],
  ["waits for a live probe until its lease ends", {
    ...lane,
    breaker: { ...OPEN, probe: live },
  }, { go: "none", why: "probing", untilMs: NOW + 1 }],
  ["probes again once the lease has lapsed", {
    ...lane,
    breaker: { ...OPEN, probe: { ...live, untilMs: NOW } },
  }, { go: "probe" }],
];

for (const [title, given, expected] of TABLE) {
  Deno.test(`gate() ${title}`, () => assert.deepEqual(gate(given, NOW), expected));
}
