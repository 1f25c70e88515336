import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { allDeliveries } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { post } from "../helpers/post.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { RawSocket } from "../helpers/raw.ts";
import { startSink } from "../helpers/sink.ts";

/** The documented time is 30 s of silence; a loaded machine may be late. */
const CUT_WITHIN_MS = 45_000;

const HEAD = "POST /hook/demo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n";

/** Sends `start`, then nothing or a byte at times; returns the status, or 0 for a closed socket. */
async function stand(relay: Relay, start: string, dripEveryMs?: number): Promise<number> {
  using socket = await RawSocket.connect(relay.port);
  await socket.send(start);
  const drip = dripEveryMs && setInterval(() => socket.trySend("x"), dripEveryMs);
  try {
    return (await socket.response({ withinMs: CUT_WITHIN_MS }))?.status ?? 0;
  } finally {
    clearInterval(drip);
  }
}

group("slow senders", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  const cut = (what: string, count: number, one: () => Promise<number>) =>
    behaviour(`${what} is answered 408 or cut`, async () => {
      for (const status of await inParallel(count, count, one)) {
        assert([0, 408].includes(status), `answered ${status}`);
      }
    });

  await Promise.all([
    cut("a body that stands still", 100, () => stand(relay, HEAD + "x")),
    cut("a body of one byte every five seconds", 50, () => stand(relay, HEAD, 5_000)),
    behaviour("ordinary posts beside them are taken at once", async () => {
      for (const { http } of await inParallel(50, 5, () => post(relay, "demo"))) {
        assert.equal(http, 202);
      }
    }),
  ]);

  await behaviour("nothing of what was cut is stored", async () => {
    assert.equal((await allDeliveries(relay, "endpoint=demo")).length, 50);
  });
});
