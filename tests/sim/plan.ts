import { Dice } from "./dice.ts";
import type { Mode } from "./kv/weather.ts";
import {
  type EndpointName,
  ENDPOINTS,
  RELAYED_LANES,
  type TargetName,
  TARGETS,
} from "./settings.ts";
import { type Behaviour, BEHAVIOURS } from "./targets.ts";

/** One thing that is done to the relay from outside, at a moment of its own. */
export type Action =
  & { atMs: number }
  & (
    | { do: "post"; endpoint: string; event: number; slot: number; bytes: number }
    | { do: "kill"; slot: number; steps: number; downMs: number }
    | { do: "stop"; slot: number; steps?: number; downMs: number }
    | { do: "target"; endpoint: string; target: TargetName; behaviour: Behaviour }
    | { do: "store"; mode: Mode; forMs: number }
    | { do: "clock"; slot: number; byMs: number }
    | { do: "retarget"; endpoint: EndpointName; target: TargetName }
    | {
      do: "lane";
      endpoint: string;
      slot: number;
      action: "pause" | "resume" | "disable" | "enable";
    }
    | { do: "replay" | "cancel"; slot: number; nth: number }
    | { do: "job"; slot: number; state: "dead" | "delivered" }
    | { do: "cron" | "prune"; slot: number }
  );

export interface Plan {
  seed: number;
  processes: number;
  leaseMs: number;
  /** Largest difference between two processes' clocks, without steps. */
  skewMs: number;
  chaosMs: number;
  /** Whether the world goes on until all that is past its time must have been pruned. */
  goesOn?: boolean;
  actions: Action[];
}

/** A store that hiccups, a body that takes several rows, and one that is staged. */
const BYTES = [20, 20, 20, 20, 20, 20, 20, 200_000, 700_000, 700_000];
const STORE_MODES: readonly Mode[] = ["slow", "flaky", "lost_answers", "locked", "down"];

/** Says from a seed alone what is going to be done. */
export function planOf(seed: number): Plan {
  const dice = new Dice(seed);
  const processes = dice.int(1, 3);
  const chaosMs = dice.int(30, 150) * 1_000;
  const plan: Plan = {
    seed,
    processes,
    leaseMs: dice.pick([5_000, 5_000, 20_000, 60_000]),
    skewMs: dice.pick([0, 0, 20, 300]),
    chaosMs,
    goesOn: dice.chance(0.2),
    actions: [],
  };
  // Few lanes a seed, so that what happens meets.
  const endpoints: string[] = ENDPOINTS.filter(() => dice.chance(0.45));
  if (endpoints.length === 0 || dice.chance(0.25)) endpoints.push(...RELAYED_LANES);
  const slot = () => dice.int(0, processes - 1);
  const posts = dice.int(10, 50);
  for (let event = 0; event < posts; event++) {
    const atMs = dice.int(0, chaosMs);
    const endpoint = dice.pick(endpoints);
    const bytes = dice.pick(BYTES);
    const again = dice.chance(0.2) ? dice.int(1, 3) : 0;
    for (let n = 0; n <= again; n++) {
      const laterMs = n === 0 ? 0 : dice.pick([0, 3, 50, 5_000, 40_000, 70_000]);
      plan.actions.push({ do: "post", atMs: atMs + laterMs, endpoint, event, slot: slot(), bytes });
    }
  }
  const burstAtMs = dice.int(0, chaosMs);
  for (let n = 0; n < dice.pick([0, 0, 15, 40]); n++) {
    const endpoint = endpoints[0];
    const event = posts + n;
    plan.actions.push({
      do: "post",
      atMs: burstAtMs + dice.int(0, 300),
      endpoint,
      event,
      slot: slot(),
      bytes: 20,
    });
  }
  const trouble = dice.int(2, 14);
  for (let n = 0; n < trouble; n++) {
    plan.actions.push(...troubleOf(dice, dice.int(0, chaosMs), slot, endpoints));
  }
  plan.actions.sort((a, b) => a.atMs - b.atMs);
  return plan;
}

/** A stop comes in the middle of what a process does, at any of so many steps. */
const STOP_STEPS = 12;

function troubleOf(
  dice: Dice,
  atMs: number,
  slotOf: () => number,
  endpoints: readonly string[],
): Action[] {
  const slot = slotOf();
  const endpoint = dice.pick(endpoints);
  const target = dice.pick(TARGETS);
  const downMs = dice.int(0, 20_000);
  const forMs = dice.int(200, 20_000);
  switch (dice.pick(TROUBLES)) {
    case "kill":
      return [{ do: "kill", atMs, slot, steps: dice.int(0, 12), downMs }];
    case "stop":
      return [{ do: "stop", atMs, slot, steps: atMs % STOP_STEPS, downMs }];
    case "target": {
      // Slow answers meet the most: renewals, timeouts, takeovers.
      const behaviour = dice.pick([...BEHAVIOURS, ...SLOW] as const);
      const began = { do: "target", endpoint, target: "one", atMs } as const;
      return [{ ...began, behaviour }, { ...began, atMs: atMs + 2 * forMs, behaviour: "ok" }];
    }
    case "outage":
      // Until the end, so that its recovery is seen without further faults.
      return [{ do: "target", atMs, endpoint, target: "one", behaviour: dice.pick(OUTAGES) }];
    case "store": {
      const mode = dice.pick(STORE_MODES);
      // A body of many commits is under way meanwhile.
      const body = {
        do: "post",
        endpoint,
        slot,
        event: LATER_EVENTS + atMs,
        bytes: 700_000,
      } as const;
      const bodyAtMs = atMs + dice.int(-5, 200);
      return [{ do: "store", atMs, mode, forMs: Math.min(forMs, 9_000) }, {
        ...body,
        atMs: bodyAtMs,
      }];
    }
    case "clock":
      return [{ do: "clock", atMs, slot, byMs: dice.pick(STEPS_MS) }];
    case "retarget":
      return [{ do: "retarget", atMs, endpoint: dice.pick(ENDPOINTS), target }, {
        do: "stop",
        atMs,
        slot,
        steps: atMs % STOP_STEPS,
        downMs: 0,
      }];
    case "lane": {
      const [action, end] = dice.pick([["pause", "resume"], ["disable", "enable"]] as const);
      const began = { do: "lane", endpoint, slot } as const;
      return [{ ...began, action, atMs }, { ...began, action: end, atMs: atMs + forMs }];
    }
    case "operator":
      return Array.from({ length: 4 }, (_, n): Action => ({
        do: dice.pick(["replay", "cancel"]),
        atMs: atMs + n * forMs,
        slot: slotOf(),
        nth: dice.int(0, 50),
      }));
    case "job":
      return [{ do: "job", atMs, slot, state: dice.pick(["dead", "delivered"]) }];
    case "prune":
      return [0, 15_000, 30_000].map((laterMs) => ({ do: "prune", atMs: atMs + laterMs, slot }));
    case "cron":
      return [{ do: "cron", atMs, slot }, { do: "cron", atMs: atMs + 10_000, slot }];
  }
}

/** Events of troubles, behind all those that are posted anyway. */
const LATER_EVENTS = 1_000;
const HOUR_MS = 3_600_000;
const STEPS_MS = [-HOUR_MS, -600_000, -4_000, 4_000, 600_000, HOUR_MS] as const;
const SLOW = ["slow", "slow", "slow", "slow", "slow"] as const;
const ERRORS = ["error", "error", "error"] as const;
const OUTAGES = ["refused", "resets", "hangs", "unavailable", "unavailable", ...ERRORS] as const;
const TROUBLES = [
  ...[
    "kill",
    "kill",
    "kill",
    "stop",
    "target",
    "target",
    "outage",
    "outage",
    "store",
    "store",
  ] as const,
  ...[
    "clock",
    "retarget",
    "lane",
    "operator",
    "operator",
    "job",
    "cron",
    "prune",
    "prune",
  ] as const,
];
