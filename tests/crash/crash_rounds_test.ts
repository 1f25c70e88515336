import assert from "node:assert/strict";
import { examine } from "../../lib/store/doctor.ts";
import { Dice } from "../sim/dice.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { test } from "../helpers/group.ts";
import { allDeliveries, nothingOpen } from "../helpers/operator.ts";
import { type PostAnswer, tryPost } from "../helpers/post.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { type Sink, startSink } from "../helpers/sink.ts";
import { pause } from "../helpers/wait.ts";

/** 50 by hand: `CRASH_ROUNDS=50 deno test -A tests/crash`. */
const ROUNDS = Number(Deno.env.get("CRASH_ROUNDS") ?? 5);
const SENDERS = 6;
const LARGE = 200_000;

/** Senders that post one event after the other, over all crashes, and keep the answers. */
class Load {
  readonly accepted = new Map<string, PostAnswer>();
  readonly #dice = new Dice(1);
  #isOver = false;
  #next = 0;
  readonly #running: Promise<void>[];

  constructor(readonly relay: Relay) {
    this.#running = Array.from({ length: SENDERS }, () => this.#send());
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #send(): Promise<void> {
    while (!this.#isOver) {
      const number = ++this.#next;
      const id = `e${number}`;
      const body = number % 20 === 0 ? `${id}:`.padEnd(LARGE, "x") : id;
      const options = { body, headers: { "x-request-id": id }, withinMs: 20_000 };
      const name = this.#dice.chance(0.2) ? "line" : "demo";
      const answer = await tryPost(this.relay, name, options);
      if (answer?.http === 202) this.accepted.set(answer.deliveryId, answer);
      if (answer === undefined) await pause(20);
    }
  }
}

test(`nothing is missing after ${ROUNDS} times kill -9 under load`, async () => {
  await using sink = startSink({ delayMs: 5 });
  const settings = { retry: { schedule: Array(20).fill("200ms") } };
  await using relay = await startRelay({
    endpoints: [
      endpoint("demo", sink, settings),
      endpoint("line", sink, { ...settings, ordered: true }),
    ],
    env: { LEASE: "1s" },
  });
  const load = new Load(relay);
  const dice = new Dice(2);
  for (let round = 0; round < ROUNDS; round++) {
    await pause(dice.int(50, 900));
    await relay.restart();
  }
  await load.end();
  await everythingArrives(relay, sink, load);
  await relay.kill("SIGTERM");
  await storeIsSound(relay);
});

async function everythingArrives(relay: Relay, sink: Sink, { accepted }: Load): Promise<void> {
  assert(accepted.size > ROUNDS, `only ${accepted.size} events were accepted`);
  await nothingOpen(relay, 120_000);
  const arrived = new Set(sink.requests.map((request) => request.header("holdfast-delivery-id")));
  const missing = [...accepted.keys()].filter((id) => !arrived.has(id));
  assert.deepEqual(missing, []);
  const delivered = new Set(
    (await allDeliveries(relay, "state=delivered")).map(({ id }) => id),
  );
  assert.deepEqual([...accepted.keys()].filter((id) => !delivered.has(id)), []);
}

async function storeIsSound({ kvPath }: Relay): Promise<void> {
  const kv = await Deno.openKv(kvPath);
  try {
    assert.deepEqual(await Array.fromAsync(examine(kv, Date.now())), []);
  } finally {
    kv.close();
  }
}
