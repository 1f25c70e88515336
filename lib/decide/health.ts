/** How a lane has fared; persisted, changed only by the functions here. */
export interface HealthState {
  status: "enabled" | "failing" | "disabled";
  /** Failed attempts in a row, of any kind. */
  streak: number;
  /** Time of the first of them. */
  firstFailureAtMs?: number;
  /** Present exactly while disabled. */
  disabledBy?: "operator" | "relay";
  disabledAtMs?: number;
}

export const HEALTHY: HealthState = Object.freeze({ status: "enabled", streak: 0 });

/** So many failures in a row are shown as `failing`. */
const FAILING_STREAK = 5;

/**
 * A lane's health after an attempt. Success clears `failing`; nothing here ends
 * `disabled`. Nothing but failures for `disableAfterMs` disables the lane.
 */
export function healthAfter(
  state: HealthState,
  attempt: { ok: boolean; atMs: number },
  settings: { disableAfterMs: number },
): HealthState {
  if (attempt.ok) {
    return state.status === "disabled" ? { ...HEALTHY, ...disabledAs(state) } : HEALTHY;
  }
  const streak = state.streak + 1;
  const firstFailureAtMs = state.firstFailureAtMs ?? attempt.atMs;
  const failed: HealthState = { ...state, streak, firstFailureAtMs };
  if (state.status === "disabled") return failed;
  if (attempt.atMs - firstFailureAtMs >= settings.disableAfterMs) {
    return { ...failed, status: "disabled", disabledBy: "relay", disabledAtMs: attempt.atMs };
  }
  return { ...failed, status: streak >= FAILING_STREAK ? "failing" : "enabled" };
}

const disabledAs = ({ status, disabledBy, disabledAtMs }: HealthState) => ({
  status,
  disabledBy,
  disabledAtMs,
});

/** An operator disables the lane. */
export function disabled(state: HealthState): HealthState {
  return { ...state, status: "disabled", disabledBy: "operator" };
}

/** An operator, or a successful test, enables the lane: the past is forgotten. */
export function enabled(): HealthState {
  return HEALTHY;
}
