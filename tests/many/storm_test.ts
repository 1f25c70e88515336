import assert from "node:assert/strict";
import { DenoKvServer, denokvTest } from "../helpers/denokv.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { read, statusOf } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { post } from "../helpers/post.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { pause, until } from "../helpers/wait.ts";
import type { StatusView } from "../routes/contract.ts";

const EVENTS = 1_000;
const AT_ONCE = 200;

/** An operator who cannot decide; resumes at the end. */
async function dither(relay: Relay, isOver: () => boolean): Promise<number> {
  let times = 0;
  for (; !isOver() || times % 2 === 1; times++) {
    const action = times % 2 === 0 ? "pause" : "resume";
    const asked = relay.api(`/endpoints/demo/${action}`, { method: "POST" });
    assert.equal(await statusOf(asked), 200);
    await pause(100);
  }
  return times;
}

denokvTest(
  `${EVENTS} posts to two programs, while their lane is paused and resumed, are all taken and counted`,
  async () => {
    await using server = await DenoKvServer.start();
    await using sink = startSink();
    const endpoints = [endpoint("demo", sink)];
    const setup = { endpoints, kvPath: server.url, env: server.env };
    await using one = await startRelay(setup);
    await using two = await startRelay(setup);
    let isOver = false;
    const dithering = dither(two, () => isOver);
    const answers = await inParallel(
      EVENTS,
      AT_ONCE,
      (n) => post(n % 2 === 0 ? one : two, "demo", { headers: { "x-request-id": `s${n}` } }),
    );
    isOver = true;
    assert(await dithering >= 2, "the lane was never paused");
    assert.deepEqual(answers.map(({ status }) => status), answers.map(() => "accepted"));
    await until(() => sink.requests.length >= EVENTS, {
      what: () => `all events at the target; ${sink.requests.length} came`,
      withinMs: 30_000,
    });
    const { lastHour } = await until(async () => {
      const { counts } = await read<StatusView>(one, "/status");
      return counts.pending + counts.inFlight === 0 ? counts : undefined;
    }, { what: "all to be settled" });
    assert.deepEqual([lastHour.accepted, lastHour.delivered], [EVENTS, EVENTS]);
    assert.equal(sink.requests.length, EVENTS);
  },
);
