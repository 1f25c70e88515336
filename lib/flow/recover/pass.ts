import { needsPerson, type Trouble } from "../../decide/github/answer.ts";
import { afterPass, nextPassAtMs } from "../../decide/github/watch.ts";
import type { Pass } from "./ask.ts";
import { checkSetup } from "./check_setup.ts";
import { poll, type Polled } from "./poll.ts";
import { repair, type Repaired } from "./repair.ts";

/**
 * One pass over a watched hook: read the history, repair what is due, look at the setup,
 * give the hook back with the time of the next pass. Rejects with `StoreUnavailable`.
 */
export async function runPass(pass: Pass): Promise<void> {
  const polled = await poll(pass);
  if (polled.kind === "lost") return;
  const repaired = polled.kind === "read" ? await repair(pass) : { isUnfinished: false };
  if (isCheckDue(pass) && !isOutage(polled)) await checkSetup(pass);
  await finish(pass, polled, repaired);
}

function isCheckDue({ held, clock }: Pass): boolean {
  return held.wanted || held.row.health.nextCheckAtMs <= clock.nowMs();
}

/** Whether another request now would only meet the same outage. */
function isOutage(polled: Polled): boolean {
  return polled.kind === "held" || (polled.kind === "trouble" && !needsPerson(polled.trouble));
}

async function finish(pass: Pass, polled: Polled, repaired: Repaired): Promise<void> {
  const { held, clock, intervalMs, signal } = pass;
  if (signal.aborted) return await held.release();
  const nowMs = clock.nowMs();
  // A pass that was held back has learnt nothing: what is known of the trouble stays.
  if (polled.kind === "read" || polled.kind === "trouble") {
    const trouble = polled.kind === "trouble" ? polled.trouble : repaired.trouble;
    if (trouble !== undefined) tell(pass, trouble);
    held.row = afterPass(held.row, trouble, nowMs);
  }
  const isUnfinished = repaired.isUnfinished || (polled.kind === "read" && polled.isUnfinished);
  const { nextRepairAtMs } = repaired;
  const next = { intervalMs, isUnfinished, nextRepairAtMs };
  held.row = { ...held.row, nextPassAtMs: nextPassAtMs(held.row, next, nowMs) };
  await held.release();
}

function tell({ held, log }: Pass, { kind, status, code }: Trouble): void {
  const level = held.row.trouble?.kind === kind ? "debug" : "warn";
  log(level, "github_trouble", { endpoint: held.endpoint, kind, status, code });
}
