import { needsPerson } from "../../decide/github/answer.ts";
import { type Drift, driftsOf, readSetup, unreadable } from "../../decide/github/drift.ts";
import { afterCheck } from "../../decide/github/watch.ts";
import { ask, type Asked, type Pass } from "./ask.ts";

/**
 * Looks how the hook is set up at GitHub and keeps the verdict in the row. It reports and
 * never changes anything. Held back by the breaker or an outage, the last verdict stays,
 * with the time it was made.
 */
export async function checkSetup(pass: Pass): Promise<void> {
  const { held, clock } = pass;
  const drifts = await look(pass);
  if (drifts === undefined) return;
  const { health } = held.row;
  for (const { kind, detail } of drifts.filter((one) => !health.drifts.some(isSame(one)))) {
    pass.log("warn", "github_drift", { endpoint: held.endpoint, kind, detail });
  }
  held.row = { ...held.row, health: afterCheck(health, drifts, clock.nowMs()) };
}

const isSame = (one: Drift) => (other: Drift) => one.detail === other.detail;

async function look(pass: Pass): Promise<Drift[] | undefined> {
  const { source: { endpoint, events, setupPaths }, publicUrl } = pass;
  const hook = await ask(pass, { method: "GET", path: setupPaths.hook });
  if (hook.kind !== "answer") return verdict(hook);
  if (setupPaths.app === undefined) {
    const seen = readSetup(hook.response.data, undefined);
    return driftsOf({ endpoint, publicUrl, events }, seen);
  }
  const app = await ask(pass, { method: "GET", path: setupPaths.app });
  if (app.kind !== "answer") return verdict(app);
  const seen = readSetup(hook.response.data, app.response.data);
  return driftsOf({ endpoint, publicUrl, events }, seen);
}

function verdict(asked: Exclude<Asked, { kind: "answer" }>): Drift[] | undefined {
  return asked.kind === "trouble" && needsPerson(asked.trouble)
    ? [unreadable(asked.trouble)]
    : undefined;
}
