import type { Dice } from "../dice.ts";

/** How the store fares. `fair` still has an accident now and then, `perfect` has none. */
export type Mode = "perfect" | "fair" | "slow" | "flaky" | "lost_answers" | "locked" | "down";

/** What becomes of one call. */
export interface Fate {
  /** When it reaches the database, and how long its answer then takes. */
  reachesInMs: number;
  answersInMs: number;
  /** Whether it takes effect at all. */
  takesEffect: boolean;
  /** What is answered instead of the result. */
  error?: string;
  /** Something a caller may notice. */
  accident: boolean;
}

/** A connection that hangs is found dead after this. */
const HANG_MS = 60_000;
const ACCIDENTS: Record<Mode, number> = {
  perfect: 0,
  fair: 0.002,
  slow: 0.01,
  flaky: 0.3,
  lost_answers: 0.4,
  locked: 0.6,
  down: 1,
};

/** Decides what becomes of calls to the store. */
export class Weather {
  mode: Mode = "fair";
  readonly #dice: Dice;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  fateOf(kind: "read" | "write"): Fate {
    const dice = this.#dice;
    const slow = this.mode === "slow" && dice.chance(0.5);
    const latency = () => slow ? dice.int(50, 2_500) : dice.int(1, 4);
    const fair = {
      reachesInMs: latency(),
      answersInMs: latency(),
      takesEffect: true,
      accident: slow,
    };
    return dice.chance(ACCIDENTS[this.mode]) ? this.#accident(kind, fair) : fair;
  }

  #accident(kind: "read" | "write", fair: Fate): Fate {
    const accident = { ...fair, accident: true };
    const before = { ...accident, takesEffect: false, error: "connection refused" };
    if (this.mode === "down") return before;
    if (this.mode === "locked") return { ...before, error: "database is locked" };
    const lost = { ...accident, error: "connection reset" };
    if (this.mode === "lost_answers" || kind === "read") return lost;
    const hangs = { ...accident, answersInMs: HANG_MS, error: "timed out" };
    return this.#dice.pick([
      before,
      lost,
      hangs,
      { ...hangs, takesEffect: false },
      // Takes effect long after whoever sent it has given up.
      { ...hangs, reachesInMs: this.#dice.int(3_000, 20_000) },
    ]);
  }
}
