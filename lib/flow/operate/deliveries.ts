import { cancelled, replayed } from "../../decide/transition.ts";
import { type Problem, problem } from "../../errors.ts";
import type { Endpoint } from "../../endpoint.ts";
import type { Delivery } from "../../model.ts";
import { isOpen } from "../../states.ts";
import type { Clock } from "../../ports.ts";
import { change } from "../../store/door.ts";
import type { Store, StoredDelivery } from "../../store/kv.ts";
import { findDelivery } from "../../store/list.ts";
import { type Count, minuteOf } from "../../store/write.ts";
import type { Schedule } from "../schedule.ts";

export interface OperateParts {
  endpoints: ReadonlyMap<string, Endpoint>;
  store: Store;
  clock: Clock;
  schedule: Schedule;
}

/**
 * Sends a settled delivery again: same event id, same bytes, a fresh budget. Refused with
 * `wrong_state` while it is pending or in flight, also where another replay was first, and
 * with `unknown_delivery` where it is not the named endpoint's.
 */
export async function replay(
  parts: OperateParts,
  id: string,
  endpoint?: string,
): Promise<Delivery | Problem> {
  const found = await find(parts.store, "replay", id, endpoint);
  if ("code" in found) return found;
  const { value } = found;
  if (isOpen(value.state)) return wrongState("replay", value);
  const nowMs = parts.clock.nowMs();
  const counts = [replayCount(value.endpoint, nowMs)];
  const changed = await change(parts.store, found, replayed(value, nowMs), { counts });
  if (changed === false) return wrongState("replay", value);
  parts.schedule.wake(value.endpoint);
  return changed.value;
}

/** The counter that goes with one replay. */
export function replayCount(endpoint: string, nowMs: number): Count {
  return { endpoint, minute: minuteOf(nowMs), name: "replayed", n: 1 };
}

/** Gives up on a waiting delivery: it becomes dead, `cancelled`, and can be replayed. */
export async function cancel(parts: OperateParts, id: string): Promise<Delivery | Problem> {
  const found = await find(parts.store, "cancel", id);
  if ("code" in found) return found;
  if (found.value.state !== "pending") return wrongState("cancel", found.value);
  const nowMs = parts.clock.nowMs();
  const { endpoint } = found.value;
  const counts: Count[] = [{ endpoint, minute: minuteOf(nowMs), name: "dead", n: 1 }];
  const changed = await change(parts.store, found, cancelled(found.value, nowMs), { counts });
  return changed === false ? wrongState("cancel", found.value) : changed.value;
}

async function find(
  store: Store,
  verb: string,
  id: string,
  endpoint?: string,
): Promise<StoredDelivery | Problem> {
  const found = await findDelivery(store, id);
  if (found !== undefined && (endpoint ?? found.value.endpoint) === found.value.endpoint) {
    return found;
  }
  return problem("unknown_delivery", `cannot ${verb} the delivery: its id is unknown`);
}

function wrongState(verb: string, { id, state }: Delivery): Problem {
  return problem(
    "wrong_state",
    `cannot ${verb} delivery ${id}: state is ${state} or has just changed`,
  );
}
