import type { Delivery } from "../../../lib/model.ts";
import { isOpen, mayMove } from "../../../lib/states.ts";
import { dueEntry, keys } from "../../../lib/store/keys.ts";
import type { Applied } from "../kv/rows.ts";
import { laneSettings } from "../settings.ts";
import { clockErrorMs, type Rule, type Scene } from "./scene.ts";

/** States change only along the table; only what is settled is deleted. */
export const statesFollowTheTable: Rule = ({ violated }, { before, after }) => {
  if (before === undefined) {
    if (after !== undefined && !isOpen(after.state)) {
      violated("states", `created as ${after.state}`, after.id);
    }
    return;
  }
  if (after === undefined) {
    if (isOpen(before.state)) violated("states", `deleted while ${before.state}`, before.id);
    return;
  }
  if (before.state !== after.state && !mayMove(before.state, after.state)) {
    violated("states", `moved from ${before.state} to ${after.state}`, after.id);
  }
};

/** Record, due entry, dead entry and payload agree after every commit. */
export const indexesAgree: Rule = ({ database: { rows }, violated }, { before, after }) => {
  const one = after ?? before;
  if (one === undefined) return;
  const { endpoint, id } = one;
  const has = (key: Deno.KvKey) => rows.peek(key) !== undefined;
  if (after !== undefined) {
    if (isOpen(after.state) !== (after.dueAtMs !== undefined)) {
      violated("due", `${after.state} with due time ${after.dueAtMs}`, id);
    }
    if (after.dueAtMs !== undefined && !has(keys.due(endpoint, after.dueAtMs, id))) {
      violated("due", `${after.state} without its due entry`, id);
    }
    if (!has(keys.payload(id, after.chunks - 1))) violated("payload", "record without payload", id);
    if (has(keys.staging(id))) {
      violated("staging", "published with its mark: it would be swept", id);
    }
  }
  const moved = before?.dueAtMs !== undefined && before.dueAtMs !== after?.dueAtMs;
  if (moved && has(keys.due(endpoint, before.dueAtMs!, id))) {
    violated("due", "an old due entry stayed", id);
  }
  if (has(keys.dead(endpoint, id)) !== (after?.state === "dead")) {
    violated("dead", `${after?.state ?? "deleted"} and its dead entry do not agree`, id);
  }
};

/** Nobody takes a due entry away from an open record. */
export function dueEntriesStay({ database: { rows }, violated }: Scene, applied: Applied): void {
  if (applied.key[0] !== "due" || applied.after !== undefined) return;
  const { endpoint, dueAtMs, id } = dueEntry(applied.key);
  const record = rows.peek(keys.delivery(endpoint, id)) as { dueAtMs?: number } | undefined;
  if (record?.dueAtMs === dueAtMs && rows.peek(applied.key) === undefined) {
    violated("due", "a due entry was taken from an open record", id);
  }
}

/** Only what is past its retention is pruned; the dead stay where nothing else is said. */
export const onlyThePastIsPruned: Rule = (scene, { before, after }) => {
  if (before === undefined || after !== undefined) return;
  const { world, violated } = scene;
  const ageMs = world.nowMs - (before.settledAtMs ?? world.nowMs);
  if (ageMs + clockErrorMs(scene) < keptMs(before)) {
    violated("retention", `${before.state} was deleted after ${ageMs} ms`, before.id);
  }
};

/** How long a settled delivery stays, in milliseconds. */
export function keptMs({ endpoint, state }: Delivery): number {
  const { retentionMs, deadRetentionMs = Infinity } = laneSettings(endpoint);
  return state === "dead" ? deadRetentionMs : retentionMs;
}
