import assert from "node:assert/strict";
import { DenoKvServer, denokvTest } from "../helpers/denokv.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { reached, statusOf } from "../helpers/operator.ts";
import { accept, post } from "../helpers/post.ts";
import { runToExit, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";

denokvTest(
  "while denokv is away senders and operators are told so in time, then all goes on",
  async () => {
    await using server = await DenoKvServer.start();
    await using sink = startSink();
    await using relay = await startRelay({
      endpoints: [endpoint("demo", sink)],
      kvPath: server.url,
      env: server.env,
    });
    await accept(relay, "demo");
    await server.kill();
    try {
      assert.equal(await statusOf(relay.asOperator("/readyz")), 503);
      const paths = ["/status", "/endpoints", "/endpoints/demo", "/deliveries", "/events"];
      const [sender, ...operators] = await Promise.all([
        post(relay, "demo", { body: "again" }),
        ...paths.map((path) => relay.api(path, { signal: AbortSignal.timeout(20_000) })),
      ]);
      assert.deepEqual([sender.http, sender.code], [503, "store_unavailable"]);
      assert.equal(sender.response.header("retry-after"), "5");
      const answers = await Promise.all(operators.map((answer) => statusOf(answer)));
      assert.deepEqual(answers, paths.map(() => 503), paths.join(" "));
    } finally {
      await server.start();
    }
    const { deliveryId } = await accept(relay, "demo");
    await reached(relay, deliveryId, "delivered");
    // What the sender was told of with 503 may have landed since: then it is delivered, too.
    const again = await post(relay, "demo", { body: "again" });
    await reached(relay, again.deliveryId, "delivered");
  },
);

denokvTest("a program whose token denokv refuses ends with a clear line", async () => {
  await using server = await DenoKvServer.start();
  const env = { DENO_KV_ACCESS_TOKEN: "another-token" };
  const { code, output } = await runToExit({ kvPath: server.url, env });
  assert.equal(code, 1);
  assert.match(output, /^cannot open the store: KV_PATH is http:.*Invalid access token/m);
  assert.doesNotMatch(output, /another-token/);
});

denokvTest("a program whose denokv is not there ends with a clear line", async () => {
  await using server = await DenoKvServer.start();
  await server.kill();
  const { code, output } = await runToExit({ kvPath: server.url, env: server.env });
  await server.start();
  assert.equal(code, 1);
  assert.match(output, /^cannot open the store: KV_PATH is http:/m);
});
