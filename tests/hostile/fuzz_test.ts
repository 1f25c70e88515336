import assert from "node:assert/strict";
import { signedIn } from "../admin/jar.ts";
import { sha256 } from "../helpers/bytes.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { test } from "../helpers/group.ts";
import { read } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept } from "../helpers/post.ts";
import { freePort } from "../helpers/ports.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { type Sink, startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import type { StatusView } from "../routes/contract.ts";
import { fire, type Hit, isAccepted, judge } from "./fire.ts";
import type { Surroundings } from "./shot.ts";
import { type Record, StoredFile } from "./stored.ts";
import { volley } from "./volley.ts";

/** Another seed, or one connection of it again: `HOSTILE_SEED=7 HOSTILE_ONLY=123 deno test …`. */
const SEED = Number(Deno.env.get("HOSTILE_SEED") ?? 1);
const ONLY = Deno.env.get("HOSTILE_ONLY");
const REQUESTS = Number(Deno.env.get("HOSTILE_REQUESTS") ?? 10_000);
const WIDTH = 12;

function startTarget(sink: Sink): Promise<Relay> {
  const nobody = `http://127.0.0.1:${freePort()}/in`;
  const secret = "whsec-of-the-tests";
  const methods = ["POST", "PUT", "PATCH", "DELETE", "GET"];
  return startRelay({
    endpoints: [
      endpoint("ok", sink, { methods }),
      endpoint("waits", nobody, { retry: { schedule: ["1h"] } }),
      endpoint("line", sink, { ordered: true }),
      endpoint("signed", sink, { provider: "github", secret }),
      endpoint("small", sink, { maxBodyBytes: 100, dedup: "off" }),
      endpoint("twilio", sink, { provider: "twilio", secret }),
      endpoint("meta", sink, { provider: "meta", secret, verifyToken: "verify-of-the-tests" }),
      endpoint("slack", sink, { provider: "slack", secret }),
      endpoint("smuggled", sink),
    ],
    env: { RELAY_TARGETS: new URL(sink.url()).origin },
  });
}

test(`${REQUESTS} hostile requests break nothing and lose nothing`, async () => {
  await using sink = startSink();
  await using relay = await startTarget(sink);
  const around = await surroundings(relay, sink);
  const accepted = new Map<string, string>();
  const statuses = new Map<number, number>();
  let requests = 0;
  await inParallel(WIDTH, WIDTH, async (worker) => {
    for (let number = worker; ONLY === undefined && requests < REQUESTS; number += WIDTH) {
      const hits = await attack(relay, number, around);
      requests += hits.length;
      for (const hit of hits) note(hit, accepted, statuses);
    }
  });
  if (ONLY !== undefined) await attack(relay, Number(ONLY), around);
  const { deliveryId } = await accept(relay, "ok");
  await until(() => sink.requests.some((r) => r.header("holdfast-delivery-id") === deliveryId), {
    what: "an ordinary post at its target",
  });
  assert.doesNotMatch(relay.output, /request_failed|"level":"error"|panicked|Uncaught/);
  if (ONLY !== undefined) return;
  for (const status of [200, 202, 400, 401, 403, 404, 405, 413, 414, 431]) {
    assert(statuses.has(status), `no ${status} was seen`);
  }
  await everythingIsThere(relay, sink, accepted);
});

async function surroundings(relay: Relay, sink: Sink): Promise<Surroundings> {
  const { deliveryId } = await accept(relay, "ok");
  const { cookies } = await signedIn(relay);
  const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join("; ");
  const host = `127.0.0.1:${relay.port}`;
  return { host, sinkUrl: sink.url("/relayed"), cookie, deliveryId };
}

async function attack(relay: Relay, number: number, around: Surroundings): Promise<Hit[]> {
  const sent = volley(SEED, number, around);
  try {
    const hits = await fire(relay.port, sent);
    judge(sent, hits);
    return hits;
  } catch (error) {
    throw new Error(
      `connection ${number} of seed ${SEED} fails: ${(error as Error).message}\n` +
        `again: HOSTILE_SEED=${SEED} HOSTILE_ONLY=${number} deno test -A tests/hostile/fuzz_test.ts`,
      { cause: error },
    );
  }
}

function note(
  { shot, response }: Hit,
  accepted: Map<string, string>,
  statuses: Map<number, number>,
) {
  if (response === undefined) return;
  statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  const deliveryId = response.header("holdfast-delivery-id");
  if (deliveryId !== undefined && isAccepted(response)) accepted.set(deliveryId, shot.sha256!);
}

/** Every yes is kept: stored with its bytes, and delivered or waiting for its target. */
async function everythingIsThere(relay: Relay, sink: Sink, accepted: Map<string, string>) {
  await until(async () => (await open(relay)) === 0, {
    what: "everything that does not wait for `waits` to be settled",
    withinMs: 60_000,
  });
  await relay.kill("SIGTERM");
  using file = await StoredFile.open(relay.kvPath);
  const records = await file.records();
  const missing = [...accepted.keys()].filter((id) => !records.has(id));
  assert.deepEqual(missing, []);
  const bodies = arrived(sink);
  for (const [id, record] of records) judgeRecord(id, record, accepted.get(id), bodies.get(id));
  assert.deepEqual(await file.complaints(), []);
  assert.deepEqual(await file.stagings(), []);
}

/** Open deliveries, but for those whose target is not there. */
async function open(relay: Relay): Promise<number> {
  const { lanes } = await read<StatusView>(relay, "/status");
  const others = lanes.filter(({ endpoint }) => endpoint !== "waits");
  return others.reduce((sum, { counts }) => sum + counts.pending + counts.inFlight, 0);
}

const arrived = (sink: Sink) =>
  new Map(sink.requests.map((one) => [one.header("holdfast-delivery-id"), sha256(one.body)]));

function judgeRecord(id: string, record: Record, promised: string | undefined, came?: string) {
  const { endpoint: lane, state, sha256: told, storedSha256 } = record;
  assert.notEqual(lane, "smuggled", `${id} was smuggled`);
  assert.equal(storedSha256, told, `${id} has other bytes than its record says`);
  if (promised !== undefined) assert.equal(told, promised, `${id} has other bytes than were sent`);
  assert.equal(state, lane === "waits" ? "pending" : "delivered", `${id} on ${lane}`);
  assert.equal(came, lane === "waits" ? undefined : told, `${id} arrived with other bytes`);
}
