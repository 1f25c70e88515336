import assert from "node:assert/strict";
import { CLOSED } from "../../lib/decide/breaker.ts";
import {
  conditionsOf,
  gravestFirst,
  type LaneSnapshot,
  type Snapshot,
} from "../../lib/decide/conditions.ts";
import { HEALTHY } from "../../lib/decide/health.ts";

const NOW = 1_700_000_000_000;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const LANE: LaneSnapshot = {
  endpoint: "demo",
  health: HEALTHY,
  breaker: CLOSED,
  waiting: 0,
  dead: 0,
};

const QUIET: Snapshot = {
  nowMs: NOW,
  lanes: [LANE],
  removed: [],
  queue: { asked: false },
  storeErrors: { count: 0 },
  sweptAgoMs: 1_000,
};

const lane = (changes: Partial<LaneSnapshot>): Partial<Snapshot> => ({
  lanes: [{ ...LANE, ...changes }],
});

Deno.test("conditionsOf() finds nothing in a quiet relay", () => {
  assert.deepEqual(conditionsOf(QUIET), []);
});

/** What a snapshot shows: type, severity, subject, count, and how long ago it began. */
const TABLE: [name: string, snapshot: Partial<Snapshot>, shown: string][] = [
  [
    "a breaker open on connections",
    lane({
      breaker: { ...CLOSED, phase: "open", cause: "connection", openedAtMs: NOW - 5 },
      waiting: 7,
    }),
    "breaker_open warning demo 7 5",
  ],
  [
    "a breaker open on a rate limit",
    lane({ breaker: { ...CLOSED, phase: "open", cause: "rate_limit", openedAtMs: NOW } }),
    "breaker_open info demo 0 0",
  ],
  [
    "a failing lane",
    lane({ health: { status: "failing", streak: 9, firstFailureAtMs: NOW - 90 } }),
    "endpoint_failing warning demo 9 90",
  ],
  [
    "a lane disabled by its operator",
    lane({
      health: { status: "disabled", streak: 0, disabledBy: "operator", disabledAtMs: NOW - 3 },
    }),
    "endpoint_disabled warning demo 0 3",
  ],
  [
    "a lane disabled by the relay",
    lane({
      health: { status: "disabled", streak: 99, disabledBy: "relay", disabledAtMs: NOW - 3 },
      waiting: 4,
    }),
    "endpoint_disabled critical demo 4 3",
  ],
  [
    "a paused lane",
    lane({ pausedAtMs: NOW - 8, waiting: 2 }),
    "endpoint_paused info demo 2 8",
  ],
  [
    "a delivery that has waited for 15 minutes",
    lane({ waiting: 3, oldestWaitingAtMs: NOW - 15 * MINUTE }),
    "oldest_pending_age warning demo 3 900000",
  ],
  [
    "a delivery that has waited for a day",
    lane({ waiting: 3, oldestWaitingAtMs: NOW - DAY }),
    "oldest_pending_age critical demo 3 86400000",
  ],
  ["a delivery that has waited for less", lane({ oldestWaitingAtMs: NOW - 14 * MINUTE }), ""],
  ["dead letters", lane({ dead: 5, oldestDeadAtMs: NOW - 6 }), "dead_letters warning demo 5 6"],
  [
    "deliveries of a removed endpoint",
    { removed: [{ endpoint: "gone", waiting: 5, oldestWaitingAtMs: NOW - 1 }] },
    "endpoint_removed warning gone 5 1",
  ],
  [
    "a queue that nobody asked for",
    { queue: { asked: false, unavailableSinceMs: NOW - 10 } },
    "queue_unavailable info  1 10",
  ],
  [
    "a queue that was asked for",
    { queue: { asked: true, unavailableSinceMs: NOW - 10 } },
    "queue_unavailable warning  1 10",
  ],
  [
    "a store that fails",
    { storeErrors: { count: 12, firstAtMs: NOW - 20 } },
    "store_errors critical  12 20",
  ],
  ["a late sweep", { sweptAgoMs: 4 * MINUTE }, "sweep_late critical  4 240000"],
  ["pruning that is behind", { pruneBehindSinceMs: NOW - 30 }, "prune_behind warning  1 30"],
];

for (const [name, snapshot, shown] of TABLE) {
  Deno.test(`conditionsOf() of ${name} is: ${shown || "nothing"}`, () => {
    const lines = conditionsOf({ ...QUIET, ...snapshot }).map((one) =>
      `${one.type} ${one.severity} ${one.subject ?? ""} ${one.count} ${NOW - one.sinceMs}`
    );
    assert.equal(lines.join("; "), shown);
  });
}

Deno.test("gravestFirst() puts critical before warning before info", () => {
  const all = conditionsOf({
    ...QUIET,
    ...lane({ pausedAtMs: NOW, dead: 1 }),
    storeErrors: { count: 1, firstAtMs: NOW },
  });
  const severities = gravestFirst(all).map(({ severity }) => severity);
  assert.deepEqual(severities, ["critical", "warning", "info"]);
});

for (
  const [ageMs, words] of [
    [15 * MINUTE, "15 minutes"],
    [119 * MINUTE, "119 minutes"],
    [150 * MINUTE, "2 hours"],
    [47 * 60 * MINUTE, "47 hours"],
    [3.5 * DAY, "3 days"],
  ] as const
) {
  Deno.test(`an age of ${ageMs} ms is told as ${words}`, () => {
    const [{ detail }] = conditionsOf({ ...QUIET, ...lane({ oldestWaitingAtMs: NOW - ageMs }) });
    assert.equal(detail, `the oldest delivery has waited for ${words}`);
  });
}
