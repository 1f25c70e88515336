import { APP_ID, APP_KEY, StandInGithub } from "../helpers/github.ts";
import { read } from "../helpers/operator.ts";
import { type Relay, type RelaySetup, startRelay } from "../helpers/program.ts";
import type { Sink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

export interface Watch {
  endpoint: string;
  checkedAt?: string;
  judgedUpTo: string;
  nextPassAt: string;
  breaker: { state: string };
  trouble?: { kind: string; detail: string };
  repaired: number;
  repairing: number;
  open: number;
  findings: { guid: string; kind: string }[];
  setup: { state: string; checkedAt?: string; drifts: { kind: string; detail: string }[] };
}

/** The program as an App's relay: endpoint `gh`, watched through the stand-in. */
export async function startAppRelay(
  sink: Sink,
  github: StandInGithub,
  { env = {}, endpoint = {}, ...setup }: RelaySetup & { endpoint?: Record<string, unknown> } = {},
): Promise<Relay> {
  const relay = await startRelay({
    endpoints: [{
      id: "gh",
      targetUrl: sink.url(),
      provider: "github",
      secret: "hook-secret",
      github: { app: true },
      ...endpoint,
    }],
    env: {
      GITHUB_API_URL: github.url,
      GITHUB_APP_ID: APP_ID,
      GITHUB_APP_PRIVATE_KEY: APP_KEY,
      GITHUB_WATCHDOG_GRACE: "1s",
      ...env,
    },
    ...setup,
  });
  pointHook(github, relay);
  return relay;
}

/** The hook's URL at GitHub; a restarted relay has another port. */
export function pointHook(github: StandInGithub, relay: Relay): void {
  github.hook.url = `${relay.origin}/hook/gh`;
}

export const watch = async (relay: Relay): Promise<Watch> =>
  (await read<{ items: Watch[] }>(relay, "/github")).items[0];

/** Waits for the end of the first pass, with which a new store takes what there is as handled. */
export const firstPass = (relay: Relay): Promise<Watch> =>
  watched(
    relay,
    ({ checkedAt = "", nextPassAt }) => checkedAt !== "" && nextPassAt > checkedAt,
    "the first pass",
  );

/** Has the relay look at GitHub's history again and again until the watch is as wanted. */
export async function repaired(
  relay: Relay,
  isDone: (watch: Watch) => boolean,
  withinMs = 30_000,
): Promise<Watch> {
  const timer = setInterval(() => askRepair(relay), 1_500);
  try {
    await askRepair(relay);
    return await watched(relay, isDone, "the repair", withinMs);
  } finally {
    clearInterval(timer);
  }
}

export const askRepair = (relay: Relay): Promise<unknown> =>
  read(relay, "/github/repair", { method: "POST" });

function watched(
  relay: Relay,
  isDone: (watch: Watch) => boolean,
  what: string,
  withinMs = 20_000,
): Promise<Watch> {
  let last: Watch | undefined;
  return until(async () => {
    last = await watch(relay);
    return isDone(last) ? last : undefined;
  }, { withinMs, what: () => `${what}; the watch is ${JSON.stringify(last)}\n${relay.output}` });
}
