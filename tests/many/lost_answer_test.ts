import assert from "node:assert/strict";
import { attemptsOf } from "../helpers/arrivals.ts";
import { random } from "../helpers/bytes.ts";
import { DenoKvServer, denokvTest } from "../helpers/denokv.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { allDeliveries, reached } from "../helpers/operator.ts";
import { accept, post } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { CuttingProxy } from "./cutting_proxy.ts";

/** Lanes that store in different ways: at once in flight, waiting, with a rate. */
const LANES: Record<string, Record<string, unknown>> = {
  free: {},
  line: { ordered: true },
  rated: { rateLimit: 50 },
};
const SIZES = [10, 200_000];

denokvTest(
  "a commit that lands without an answer is one event, and its sender is told so",
  async () => {
    await using server = await DenoKvServer.start();
    await using proxy = new CuttingProxy(Number(new URL(server.url).port));
    await using sink = startSink();
    const endpoints = Object.entries(LANES).map(([id, settings]) => endpoint(id, sink, settings));
    await using relay = await startRelay({ endpoints, kvPath: proxy.url, env: server.env });
    for (const id of Object.keys(LANES)) {
      await reached(relay, (await accept(relay, id)).deliveryId, "delivered");
      for (const size of SIZES) {
        const options = { body: random(size), headers: { "x-request-id": `event-of-${size}` } };
        proxy.cutAt = `event-of-${size}`;
        const first = await post(relay, id, options);
        assert.deepEqual([first.http, first.status], [202, "accepted"], `${id} ${size}`);
        assert.equal(proxy.cutAt, undefined, "no commit was cut");
        await reached(relay, first.deliveryId, "delivered", 30_000);
        const again = await post(relay, id, options);
        assert.deepEqual([again.status, again.deliveryId], ["duplicate", first.deliveryId]);
        assert.equal(attemptsOf(sink, first.deliveryId).length, 1, `${id} ${size}`);
      }
    }
    assert.equal((await allDeliveries(relay, "")).length, endpoints.length * (1 + SIZES.length));
  },
);
