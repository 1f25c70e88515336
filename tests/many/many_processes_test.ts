import assert from "node:assert/strict";
import { cli } from "../cli/cli.ts";
import { HANG_UP } from "../helpers/answer.ts";
import { sha256 } from "../helpers/bytes.ts";
import { DenoKvServer, denokvTest } from "../helpers/denokv.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { allDeliveries, nothingOpen } from "../helpers/operator.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { type Sink, type SinkRequest, startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import { Dice } from "../sim/dice.ts";
import { Load, type Sent } from "./load.ts";

/** More by hand: `MANY_EVENTS=5000 MANY_SEED=7 deno test -A tests/many`. */
const EVENTS = Number(Deno.env.get("MANY_EVENTS") ?? 320);
const SEED = Number(Deno.env.get("MANY_SEED") ?? 1);
const PROGRAMS = 3;
const AWAY_MS = 1_500;

/** A time in which something was away that may make a target see an event twice. */
interface Fault {
  fromMs: number;
  toMs: number;
}

denokvTest(
  `${PROGRAMS} programs on one denokv server deliver ${EVENTS} events once, through kill -9 of each`,
  async () => {
    await using server = await DenoKvServer.start();
    await using demo = startSink({ delayMs: 5 });
    await using line = startSink();
    const refused = new Set<SinkRequest>();
    await using flaky = startSink(failing(new Dice(SEED), refused));
    const relays = await startAll(server, { demo, line, flaky });
    const sinks = [demo, line, flaky];
    try {
      const startMs = performance.now();
      const load = new Load(relays, new Dice(SEED), EVENTS);
      const [, faults] = await Promise.all([load.run(), disturb(load, relays, server)]);
      const loadMs = performance.now() - startMs;
      await nothingOpen(relays[0], 60_000);
      const settledMs = performance.now() - startMs;

      await oneDeliveryAnEvent(relays[0], load.sent);
      const taken = sinks.flatMap(({ requests }) => requests).filter((one) => !refused.has(one));
      everyByteArrived(taken, load.sent);
      orderWasKept(line);
      const repeats = repeatsAreExplained(taken, faults);
      console.log(
        `${load.sent.length} events, ${load.answers} answers of success, ${taken.length} taken, ` +
          `${repeats} of them again, ${refused.size} refused; ` +
          `${Math.round(loadMs)} ms of load, settled after ${Math.round(settledMs)} ms`,
      );
      const codes = await Promise.all(relays.map((relay) => relay.kill("SIGTERM")));
      assert.deepEqual(codes, relays.map(() => 0));
    } finally {
      for (const relay of relays) await relay[Symbol.asyncDispose]();
    }
    const { code, stdout, stderr } = await cli(undefined, ["doctor"], {
      env: { KV_PATH: server.url, ...server.env },
    });
    assert.deepEqual([code, stdout, stderr], [0, "", "no broken invariant\n"]);
  },
);

/** A target that fails a fifth of the time, in three ways. */
function failing(dice: Dice, refused: Set<SinkRequest>) {
  return (request: SinkRequest) => {
    if (!dice.chance(0.2)) return {};
    refused.add(request);
    return dice.pick([{ status: 500 }, { status: 503 }, HANG_UP]);
  };
}

function startAll(
  server: DenoKvServer,
  { demo, line, flaky }: Record<"demo" | "line" | "flaky", Sink>,
): Promise<Relay[]> {
  const retry = { schedule: Array(40).fill("300ms") };
  const endpoints = [
    endpoint("demo", demo, { retry }),
    endpoint("line", line, { retry, ordered: true }),
    endpoint("flaky", flaky, { retry, breaker: { failures: 3, open: "300ms", cap: "600ms" } }),
  ];
  const setup = { endpoints, kvPath: server.url, env: { LEASE: "3s", ...server.env } };
  return Promise.all(Array.from({ length: PROGRAMS }, () => startRelay(setup)));
}

/** Ends each program once with `kill -9`, and the server once, in the middle. */
async function disturb(load: Load, relays: readonly Relay[], server: DenoKvServer) {
  const faults: Fault[] = [];
  const during = async (work: () => Promise<unknown>) => {
    const fromMs = performance.now();
    await work();
    faults.push({ fromMs, toMs: performance.now() });
  };
  const crash = async (relay: Relay) => {
    await during(() => relay.kill("SIGKILL"));
    await relay.restart();
  };
  const steps = [
    () => crash(relays[0]),
    () => crash(relays[1]),
    () => during(() => server.away(AWAY_MS)),
    () => crash(relays[2]),
  ];
  for (const [index, step] of steps.entries()) {
    const share = (index + 1) / (steps.length + 1);
    await until(() => load.progress >= share, {
      withinMs: 120_000,
      what: () => `${share} of the load; there is ${load.progress}`,
    });
    await step();
  }
  return faults;
}

async function oneDeliveryAnEvent(relay: Relay, sent: readonly Sent[]): Promise<void> {
  const stored = await allDeliveries(relay, "limit=200");
  const nameOf = (one: { endpoint: string; eventId: string }) => `${one.endpoint} ${one.eventId}`;
  assert.deepEqual(stored.map(nameOf).sort(), sent.map(nameOf).sort());
  const byName = new Map(stored.map((one) => [nameOf(one), one]));
  for (const one of sent) {
    const { id, state, sha256 } = byName.get(nameOf(one))!;
    assert.deepEqual([...one.deliveryIds], [id], `the ids that were told of ${nameOf(one)}`);
    assert.deepEqual([state, sha256], ["delivered", one.sha256], nameOf(one));
  }
}

function everyByteArrived(taken: readonly SinkRequest[], sent: readonly Sent[]): void {
  const expected = new Map(sent.map((one) => [[...one.deliveryIds][0], one.sha256]));
  for (const request of taken) {
    const id = request.header("holdfast-delivery-id")!;
    assert.equal(sha256(request.body), expected.get(id), `the body of ${id} at its target`);
  }
  const arrived = new Set(taken.map((request) => request.header("holdfast-delivery-id")));
  assert.deepEqual([...expected.keys()].filter((id) => !arrived.has(id)), []);
}

function orderWasKept({ requests }: Sink): void {
  const numbers = requests.map((request) => Number(request.header("x-request-id")));
  assert.deepEqual(numbers, numbers.toSorted((a, b) => a - b));
}

/** Whatever a target took again, a fault lay between; returns how often that was. */
function repeatsAreExplained(taken: readonly SinkRequest[], faults: readonly Fault[]): number {
  const before = new Map<string, SinkRequest>();
  let repeats = 0;
  for (const request of taken.toSorted((a, b) => a.atMs - b.atMs)) {
    const id = request.header("holdfast-delivery-id")!;
    const earlier = before.get(id);
    before.set(id, request);
    if (earlier === undefined) continue;
    repeats++;
    const explained = faults.some(({ fromMs, toMs }) =>
      fromMs <= request.atMs && toMs >= earlier.atMs
    );
    assert(
      explained,
      `${id} was taken at ${earlier.atMs} and ${request.atMs}: ${JSON.stringify(faults)}`,
    );
  }
  return repeats;
}
