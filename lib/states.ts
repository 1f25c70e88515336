import type { DeliveryState } from "./model.ts";

/** One row a state: where it may go, who moves it on and when it is pruned. */
interface StateRow {
  next: readonly DeliveryState[];
  movedBy: string;
  prunedAfter: "never" | "retention" | "deadRetention";
}

export const STATES: Readonly<Record<DeliveryState, StateRow>> = {
  pending: {
    next: ["in_flight", "dead"],
    movedBy: "drain claims, operator cancels",
    prunedAfter: "never",
  },
  in_flight: {
    next: ["delivered", "pending", "dead"],
    movedBy: "the lease's owner; another process once the lease has run out",
    prunedAfter: "never",
  },
  delivered: { next: ["pending"], movedBy: "operator replays", prunedAfter: "retention" },
  dead: {
    next: ["pending"],
    movedBy: "operator replays, sender's repeat revives",
    prunedAfter: "deadRetention",
  },
};

/**
 * Whether a delivery may go from one state to another. A lapsed lease is taken over
 * within `in_flight`, so that is no transition.
 */
export function mayMove(from: DeliveryState, to: DeliveryState): boolean {
  return STATES[from].next.includes(to);
}

/** Whether a delivery in this state still has work to do, and so a due entry. */
export function isOpen(state: DeliveryState): boolean {
  return state === "pending" || state === "in_flight";
}
