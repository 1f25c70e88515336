import assert from "node:assert/strict";
import { HANG_UP } from "../helpers/answer.ts";
import { arrival, attemptsOf } from "../helpers/arrivals.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { delivery, reached } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept } from "../helpers/post.ts";
import { freePort } from "../helpers/ports.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { pause, until } from "../helpers/wait.ts";

const MIB = 1024 * 1024;
const CONCURRENCY = 10;

group("connections", async (behaviour) => {
  await using closing = startSink((_request, index) => index === 1 ? HANG_UP : {});
  await using idle = startSink({}, { idleCloseMs: 100 });
  await using announced = startSink(
    { headers: ["Connection: keep-alive", "Keep-Alive: timeout=1"] },
    { idleCloseMs: 1_000 },
  );
  await using verbose = startSink({ status: 500, body: new Uint8Array(MIB) });
  await using slow = startSink({ raw: "", after: "hang" });
  await using steady = startSink();
  await using relay = await startRelay({
    endpoints: [
      endpoint("closing", closing, { retry: { schedule: ["600ms"] } }),
      endpoint("idle", idle),
      endpoint("announced", announced),
      endpoint("verbose", verbose, {
        concurrency: CONCURRENCY,
        retry: { schedule: ["50ms", "50ms"] },
      }),
      endpoint("slow", slow, { timeout: "300ms", retry: { schedule: [] } }),
      endpoint("steady", steady),
      endpoint("refused", `http://127.0.0.1:${freePort()}/in`, { retry: { schedule: [] } }),
      endpoint("nowhere", "http://nx.invalid/in", { retry: { schedule: ["50ms", "1h"] } }),
    ],
  });

  await Promise.all([
    behaviour(
      "a post that was read and not answered is sent again only by the schedule",
      async () => {
        await reached(relay, (await accept(relay, "closing")).deliveryId, "delivered");
        const { deliveryId } = await accept(relay, "closing");
        const { attempts } = await reached(relay, deliveryId, "delivered");
        assert.deepEqual(attempts.map(({ code }) => code), ["reset", undefined]);
        const sent = attemptsOf(closing, deliveryId);
        assert.deepEqual(sent.map((request) => request.header("holdfast-attempt")), ["1", "2"]);
      },
    ),

    ...([["idle", idle], ["announced", announced]] as const).map(([id, sink]) =>
      behaviour(`a target that closes ${id} connections is no failure`, async () => {
        for (let n = 0; n < 4; n++) {
          const { deliveryId } = await accept(relay, id);
          assert.equal((await reached(relay, deliveryId, "delivered")).attemptCount, 1);
          await until(() => sink.openConnections === 0, { what: "the idle connection to close" });
          await pause(200);
        }
      })
    ),

    behaviour("connections to a target are used again", async () => {
      for (let n = 0; n < 5; n++) {
        await reached(relay, (await accept(relay, "steady")).deliveryId, "delivered");
      }
      assert(steady.connections < 5, `${steady.connections} connections for 5 requests`);
    }),

    behaviour("a target that never answers times out", async () => {
      const { deliveryId } = await accept(relay, "slow");
      const { attempts } = await reached(relay, deliveryId, "dead");
      assert.equal(attempts[0].code, "timeout");
    }),

    behaviour("a port where nobody listens is refused", async () => {
      const { deliveryId } = await accept(relay, "refused");
      const { attempts } = await reached(relay, deliveryId, "dead");
      assert.equal(attempts[0].code, "refused");
    }),

    behaviour("a name that does not resolve is tried again", async () => {
      const { deliveryId } = await accept(relay, "nowhere");
      const waiting = await until(async () => {
        const found = await delivery(relay, deliveryId);
        return found.attemptCount === 2 && found.state === "pending" ? found : undefined;
      }, { what: "two attempts", withinMs: 30_000 });
      assert.deepEqual(waiting.attempts.map(({ code }) => code), ["dns", "dns"]);
    }),
  ]);

  await behaviour("large failed answers leave neither sockets nor memory behind", async () => {
    const sockets = relay.openSockets();
    const rssBytes = relay.rssBytes();
    const accepted = await inParallel(100, 20, () => accept(relay, "verbose"));
    for (const { deliveryId } of accepted) {
      assert.equal((await reached(relay, deliveryId, "dead", 30_000)).attemptCount, 3);
    }
    await until(() => relay.openSockets() <= sockets + CONCURRENCY + 10, {
      what: () => `sockets to close; ${relay.openSockets()} are open, ${sockets} were`,
    });
    const grown = relay.rssBytes() - rssBytes;
    assert(grown < 60 * MIB, `memory grew by ${grown} bytes`);
  });
});

group("a literal IPv6 target", async (behaviour) => {
  await using sink = startSink({}, { hostname: "::1" });
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink)],
    env: { ALLOW_PRIVATE_TARGETS: "::1/128" },
  });
  await behaviour("is reached where its block is allowed, under its bracketed name", async () => {
    const request = await arrival(sink, await accept(relay, "demo"));
    assert.equal(request.header("host"), `[::1]:${sink.port}`);
  });
});
