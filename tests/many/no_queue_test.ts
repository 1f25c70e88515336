import assert from "node:assert/strict";
import { inTurn } from "../helpers/answer.ts";
import { DenoKvServer, denokvTest } from "../helpers/denokv.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { reached, read } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import type { StatusView } from "../routes/contract.ts";

/** A loaded machine may be late; without a queue and without timers it would be a minute. */
const LATE_MS = 10_000;

denokvTest(
  "a store without queues is told in the status, and retries keep their second",
  async () => {
    await using server = await DenoKvServer.start();
    await using sink = startSink(inTurn(500, 200));
    await using relay = await startRelay({
      endpoints: [endpoint("demo", sink, { retry: { schedule: ["2s"] } })],
      kvPath: server.url,
      env: { ...server.env, SCHEDULER: "auto" },
    });
    const { deliveryId } = await accept(relay, "demo");
    const { attempts } = await reached(relay, deliveryId, "delivered", 2_000 + LATE_MS);
    const waitedMs = Date.parse(attempts[1].at) - Date.parse(attempts[0].at);
    assert(waitedMs >= 2_000 && waitedMs < 2_000 + LATE_MS, `retried after ${waitedMs} ms`);
    const told = await until(
      async () =>
        (await read<StatusView>(relay, "/status")).conditions.find(({ type }) =>
          type === "queue_unavailable"
        ),
      { what: "the status to say that there is no queue", withinMs: 30_000 },
    );
    assert.equal(told.severity, "info");
    assert.doesNotMatch(relay.output, /"level":"error"/);
  },
);
