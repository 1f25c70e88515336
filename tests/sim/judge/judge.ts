import type { LaneRow } from "../../../lib/decide/lane.ts";
import type { Delivery } from "../../../lib/model.ts";
import { isOpen } from "../../../lib/states.ts";
import type { Applied } from "../kv/rows.ts";
import type { Answered } from "../posts.ts";
import type { Process } from "../process.ts";
import type { Attempted, Heard } from "../targets.ts";
import { answersInTime } from "./answers.ts";
import {
  heldLanesRest,
  leasesAreRespected,
  noteLane,
  orderIsKept,
  probesAreSingle,
} from "./claims.ts";
import {
  dueEntriesStay,
  indexesAgree,
  onlyThePastIsPruned,
  statesFollowTheTable,
} from "./records.ts";
import { Events } from "./events.ts";
import { Outages } from "./outages.ts";
import { Rate } from "./rate.ts";
import { Recovery } from "./recovery.ts";
import { RetryAfter } from "./retry_after.ts";
import type { Moved, Rule, Scene } from "./scene.ts";
import { stopKeepsNothing } from "./stops.ts";

const RULES: readonly Rule[] = [
  statesFollowTheTable,
  indexesAgree,
  onlyThePastIsPruned,
  leasesAreRespected,
  heldLanesRest,
  orderIsKept,
];

/** Judges every commit in the moment it takes effect, and keeps what the end needs. */
export class Judge {
  readonly reopenedAtMs = new Map<string, number[]>();
  readonly counted: Record<string, number> = { accepted: 0, delivered: 0, dead: 0 };

  readonly #events: Events;
  readonly #outages: Outages;
  readonly #retryAfter: RetryAfter;
  readonly #rate: Rate;
  readonly #recovery: Recovery;

  constructor(readonly scene: Scene) {
    this.#events = new Events(scene);
    this.#outages = new Outages(scene);
    this.#retryAfter = new RetryAfter(scene);
    this.#rate = new Rate(scene);
    this.#recovery = new Recovery(scene);
  }

  /** A sender has its answer. */
  onAnswer(answered: Answered): void {
    answersInTime(this.scene, answered);
    this.#events.onAnswer(answered);
  }

  /** An attempt starts. */
  onSend(attempted: Attempted): void {
    this.#outages.onSend(attempted);
    this.#retryAfter.onSend(attempted);
    this.#rate.onSend(attempted);
  }

  /** A living process hears of an attempt. */
  onHeard(heard: Heard): void {
    this.#outages.onHeard(heard);
    this.#retryAfter.onHeard(heard);
  }

  /** A process has stopped as it was asked to. */
  onStopped(process: Process): void {
    stopKeepsNothing(this.scene, process);
  }

  /** All faults have stopped. */
  onCalm(): void {
    this.#recovery.onCalm();
  }

  onCommit(applied: readonly Applied[], by: Process): void {
    for (const one of applied) {
      dueEntriesStay(this.scene, one);
      if (one.key[0] === "delivery") {
        this.#moved({
          before: one.before as Delivery | undefined,
          after: one.after as Delivery | undefined,
          by,
        });
      }
    }
    // After the claims of the same commit: those were decided on the row before.
    for (const { key, before, after } of applied) {
      if (key[0] !== "lane" || key.length !== 2) continue;
      const endpoint = String(key[1]);
      if (before !== undefined && after !== undefined) {
        probesAreSingle(this.scene, before as LaneRow, after as LaneRow, by);
        this.#recovery.onLane(before as LaneRow, after as LaneRow, endpoint, by);
      }
      noteLane(this.scene, endpoint);
      this.scene.world.tell(`${by.name} writes lane ${endpoint}: ${toldLane(after as LaneRow)}`);
    }
  }

  #moved(moved: Moved): void {
    const { before, after, by } = moved;
    const { storedAtMs, world } = this.scene;
    if (before === undefined && after !== undefined) storedAtMs.set(after.id, world.nowMs);
    for (const rule of RULES) rule(this.scene, moved);
    this.#events.onMoved(moved);
    this.#outages.onMoved(moved);
    this.#retryAfter.onMoved(moved);
    if (after === undefined) {
      if (before !== undefined) this.#gone(before, by);
      return;
    }
    this.#count(before, after);
    if (before !== undefined && !isOpen(before.state) && isOpen(after.state)) {
      const times = this.reopenedAtMs.get(after.id) ?? [];
      this.reopenedAtMs.set(after.id, [...times, this.scene.world.nowMs]);
    }
    this.scene.world.tell(`${by.name} writes ${after.id} on ${after.endpoint}: ${told(after)}`);
  }

  #gone(before: Delivery, by: Process): void {
    this.scene.pruned.set(before.id, before);
    this.scene.world.tell(`${by.name} deletes ${before.id} on ${before.endpoint}`);
  }

  #count(before: Delivery | undefined, after: Delivery): void {
    if (before === undefined) this.counted.accepted++;
    else if (before.state !== after.state && !isOpen(after.state)) this.counted[after.state]++;
  }
}

function told(
  { state, reason, lease, attemptCount, attempts, dueAtMs, replays }: Delivery,
): string {
  const last = attempts.at(-1);
  const result = last === undefined ? "" : `, last ${last.status ?? last.code} (${last.outcome})`;
  return `${state} ${
    reason ?? lease?.owner ?? ""
  } after ${attemptCount} attempts${result}, due ${dueAtMs}, replays ${replays}`;
}

function toldLane(row: LaneRow | undefined): string {
  if (row === undefined) return "deleted";
  const { phase, openUntilMs, probe } = row.breaker;
  const open = phase === "open" ? `open until ${openUntilMs}` : phase;
  const probed = probe === undefined ? "" : `, ${probe.owner} probes with ${probe.deliveryId}`;
  return `${open}${probed}${row.pausedAtMs === undefined ? "" : ", paused"}`;
}
