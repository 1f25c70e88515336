import type { LaneRow } from "../../../lib/decide/lane.ts";
import type { Delivery } from "../../../lib/model.ts";
import { isOpen } from "../../../lib/states.ts";
import type { Applied } from "../kv/rows.ts";
import type { Process } from "../process.ts";
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
  oneDeliveryAnEvent,
  statesFollowTheTable,
} from "./records.ts";
import type { Moved, Rule, Scene } from "./scene.ts";

const RULES: readonly Rule[] = [
  statesFollowTheTable,
  indexesAgree,
  oneDeliveryAnEvent,
  leasesAreRespected,
  heldLanesRest,
  orderIsKept,
];

/** Judges every commit in the moment it takes effect, and keeps what the end needs. */
export class Judge {
  readonly reopenedAtMs = new Map<string, number[]>();
  readonly counted: Record<string, number> = { accepted: 0, delivered: 0, dead: 0 };

  constructor(readonly scene: Scene) {}

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
      if (before !== undefined) {
        probesAreSingle(this.scene, before as LaneRow, after as LaneRow);
      }
      noteLane(this.scene, String(key[1]));
    }
  }

  #moved(moved: Moved): void {
    const { before, after, by } = moved;
    for (const rule of RULES) rule(this.scene, moved);
    if (after === undefined) return;
    this.#count(before, after);
    if (before !== undefined && !isOpen(before.state) && isOpen(after.state)) {
      const times = this.reopenedAtMs.get(after.id) ?? [];
      this.reopenedAtMs.set(after.id, [...times, this.scene.world.nowMs]);
    }
    this.scene.world.tell(`${by.name} writes ${after.id} on ${after.endpoint}: ${told(after)}`);
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
