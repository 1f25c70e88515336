import type { Trouble } from "../../decide/github/answer.ts";
import { isDeliveryUrl } from "../../decide/github/drift.ts";
import { type Finding, reopened, repairStep, tried } from "../../decide/github/finding.ts";
import type { Clock } from "../../ports.ts";
import { isHere, listFindings } from "../../store/watch.ts";
import { ask, type Asked, type Pass } from "./ask.ts";

/** What came of the repairs of one pass. */
export interface Repaired {
  trouble?: Trouble;
  /** Repairs are due that this pass did not get to. */
  isUnfinished: boolean;
  nextRepairAtMs?: number;
}

/** GitHub wants a second between writes (docs.github.com, "Best practices", REST API). */
const GAP_MS = 1_000;
/** With the gap these take less than a minute, the time that a cron pass may last. */
const MOST_A_PASS = 40;
const SETTLE_BATCH = 100;

/** Takes leave of findings whose event is here by now, and asks again for what is due. */
export async function repair(pass: Pass): Promise<Repaired> {
  const findings = await settle(pass);
  let asked = 0;
  let nextRepairAtMs: number | undefined;
  for (const finding of findings) {
    if (pass.signal.aborted) break;
    const step = repairStep(finding, pass.clock.nowMs());
    if (step.do === "wait") {
      nextRepairAtMs = Math.min(nextRepairAtMs ?? Infinity, step.untilMs);
    } else if (step.do === "leave") {
      if (step.finding.open !== finding.open) await leave(pass, step.finding);
    } else {
      if (!pass.isStoreHealthy()) return { isUnfinished: false, nextRepairAtMs };
      if (asked === MOST_A_PASS) return { isUnfinished: true, nextRepairAtMs };
      if (asked++ > 0) await sleep(pass.clock, GAP_MS, pass.signal);
      const stop = await redeliver(pass, finding);
      if (stop !== undefined) return { ...stop, isUnfinished: false, nextRepairAtMs };
    }
  }
  return { isUnfinished: false, nextRepairAtMs };
}

/**
 * Forgets the findings whose event has come; returns the others, with a fresh round of tries
 * where an operator wants it.
 */
async function settle({ store, source: { endpoint }, held, log }: Pass): Promise<Finding[]> {
  const findings = await listFindings(store, endpoint);
  const left: Finding[] = [];
  for (let at = 0; at < findings.length; at += SETTLE_BATCH) {
    const batch = findings.slice(at, at + SETTLE_BATCH);
    const here = await Promise.all(batch.map(({ guid }) => isHere(store, endpoint, guid)));
    const come = batch.filter((_, index) => here[index]);
    const missing = batch.filter((_, index) => !here[index]);
    const again = held.wanted ? missing.map(reopened) : missing;
    left.push(...again);
    const set = again.filter((finding, index) => finding !== missing[index]);
    if (come.length + set.length === 0) continue;
    held.row = { ...held.row, repaired: held.row.repaired + come.length };
    if (!await held.save({ set, delete: come.map(({ guid }) => guid) })) return [];
    for (const { guid, tries } of come) log("info", "github_repaired", { endpoint, guid, tries });
  }
  return left;
}

async function leave({ held, log, source: { endpoint } }: Pass, finding: Finding): Promise<void> {
  await held.save({ set: [finding] });
  log("warn", "github_not_repaired", { endpoint, guid: finding.guid, why: finding.open });
}

/** What ends the repairs of this pass; `undefined` to go on. */
type Stop = { trouble?: Trouble } | undefined;

/**
 * Asks for one event again. The try is stored before it is made: a store that cannot take
 * it could not take the delivery either.
 */
async function redeliver(pass: Pass, finding: Finding): Promise<Stop> {
  const { store, held, source: { endpoint, deliveriesPath }, clock, log } = pass;
  if (await isHere(store, endpoint, finding.guid)) return undefined;
  const path = `${deliveriesPath}/${encodeURIComponent(finding.rowId)}`;
  const again = tried(finding, clock.nowMs());
  if (finding.kind === "phantom_ack" && finding.tries === 0) {
    const row = await ask(pass, { method: "GET", path });
    if (row.kind !== "answer") return await refused(pass, finding, again, row);
    if (isElsewhere(row.response.data, endpoint)) return await forget(pass, finding);
  }
  if (!await held.save({ set: [again] })) return {};
  const asked = await ask(pass, { method: "POST", path: `${path}/attempts` });
  if (asked.kind !== "answer") return await refused(pass, finding, again, asked);
  log("info", "github_redelivery", { endpoint, guid: finding.guid, try: again.tries });
  return undefined;
}

/**
 * Whether another address has acknowledged the event: the hook was pointed here later, and
 * what it pointed to before has the event. Only the path tells; hosts may be many.
 */
function isElsewhere(row: unknown, endpoint: string): boolean {
  const { url } = (row ?? {}) as { url?: unknown };
  return typeof url === "string" && !isDeliveryUrl(url, { endpoint });
}

async function forget({ held, log }: Pass, { guid }: Finding): Promise<Stop> {
  log("info", "github_delivered_elsewhere", { endpoint: held.endpoint, guid });
  return await held.save({ delete: [guid] }) ? undefined : {};
}

/** A request that GitHub did not take is no try, unless GitHub says no to this very one. */
async function refused(
  pass: Pass,
  before: Finding,
  again: Finding,
  asked: Exclude<Asked, { kind: "answer" }>,
): Promise<Stop> {
  const kind = asked.kind === "trouble" ? asked.trouble.kind : undefined;
  if (kind === "not_found") {
    await leave(pass, { ...before, open: "gone" });
    return undefined;
  }
  const goesOn = kind === "unexpected";
  const saved = await pass.held.save({ set: [goesOn ? again : before] });
  if (goesOn && saved) return undefined;
  return asked.kind === "trouble" ? { trouble: asked.trouble } : {};
}

function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener("abort", end);
  });
}
