/** Ten GitHub events meet a backend that is down: see how each is kept, retried and verified. */
import { sign } from "@octokit/webhooks-methods";
import { reservePort, startBackend } from "./backend.ts";
import { type GitHubEvent, tenEvents } from "./events.ts";
import { type DemoRelay, startRelay } from "./relay.ts";
import { createDisplay, type Row, screen } from "./screen.ts";

const SECRET = crypto.randomUUID();
const DOWN_MS = 4_000;
const LONGEST_MS = 60_000;
const LOOK_MS = 250;

const port = reservePort();
const relay = await startRelay(`http://127.0.0.1:${port}/webhooks`, SECRET);
const rows: Row[] = tenEvents().map((event) => ({ event, state: "", attempts: 0 }));
const display = createDisplay(
  (text) => console.log(text.replace(/\n$/, "")),
  Deno.stdout.isTerminal(),
);
let backend = "down (its deploy is under way)";

const show = () => display(screen(rows, backend));
show();
for (const row of rows) {
  row.acceptedMs = await send(relay, row.event);
  show();
}
await follow(Date.now() + DOWN_MS);
backend = "up";
const server = startBackend(port, SECRET, (guid, verified) => {
  const row = rows.find(({ event }) => event.guid === guid);
  if (row !== undefined) row.verified = verified;
});
await follow(Date.now() + LONGEST_MS);
await server.shutdown();
await relay.stop();
Deno.exit(isDone() ? 0 : 1);

async function send({ origin }: DemoRelay, { name, guid, body }: GitHubEvent): Promise<number> {
  const sinceMs = performance.now();
  const response = await fetch(`${origin}/hook/github`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "user-agent": "GitHub-Hookshot/demo",
      "x-github-event": name,
      "x-github-delivery": guid,
      "x-hub-signature-256": await sign(SECRET, body),
    },
    body,
  });
  const answer = await response.text();
  if (!response.ok) {
    throw new Error(`cannot send ${name}: the relay answered ${response.status} ${answer}`);
  }
  return performance.now() - sinceMs;
}

/** Shows what the relay's API says until all is done, or until `untilMs`. */
async function follow(untilMs: number): Promise<void> {
  while (Date.now() < untilMs && !isDone()) {
    await refresh(relay);
    show();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function refresh({ origin, adminToken }: DemoRelay): Promise<void> {
  const response = await fetch(`${origin}/api/v1/deliveries?endpoint=github`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  const { items } = await response.json() as {
    items: { eventId: string; state: string; attemptCount: number }[];
  };
  for (const { eventId, state, attemptCount } of items) {
    const row = rows.find(({ event }) => event.guid === eventId);
    if (row !== undefined) Object.assign(row, { state, attempts: attemptCount });
  }
}

function isDone(): boolean {
  return rows.every(({ verified, state }) => verified && state === "delivered");
}
