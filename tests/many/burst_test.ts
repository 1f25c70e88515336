import assert from "node:assert/strict";
import { DenoKvServer, denokvTest } from "../helpers/denokv.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { inParallel } from "../helpers/parallel.ts";
import { post } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

const EVENTS = 300;
const AT_ONCE = 100;

denokvTest(`${AT_ONCE} posts at once are all accepted on a denokv server`, async () => {
  await using server = await DenoKvServer.start();
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink)],
    kvPath: server.url,
    env: server.env,
  });
  const answers = await inParallel(EVENTS, AT_ONCE, () => post(relay, "demo"));
  assert.deepEqual(answers.map(({ http }) => http), answers.map(() => 202));
  await until(() => sink.requests.length >= EVENTS, {
    what: () => `all events at the target; ${sink.requests.length} came`,
  });
  assert.equal(sink.requests.length, EVENTS);
});
