import assert from "node:assert/strict";
import { inTurn } from "../helpers/answer.ts";
import { attemptsOf } from "../helpers/arrivals.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { delivery, reached, replay } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

const MIB = 1024 * 1024;

async function* zeros(total: number): AsyncGenerator<Uint8Array> {
  const block = new Uint8Array(64 * 1024);
  for (let sent = 0; sent < total; sent += block.length) yield block;
}

group("the target's answer", async (behaviour) => {
  await using redirect = startSink({ status: 301, headers: ["Location: /other"] });
  await using stalled = startSink({
    headers: ["Content-Length: 10"],
    body: "ab",
    after: "hang",
  });
  await using endless = startSink({ stream: () => zeros(2_048 * MIB) });
  await using bodyless = startSink(inTurn(204, 205, 201, 206, 304));
  await using gone = startSink(inTurn(410, 200));
  await using odd = startSink(inTurn(600, 999, 200));
  await using control = startSink({ headers: ["X-Bad: a\x01b"] });
  await using enormous = startSink({ headers: [`X-Big: ${"a".repeat(40_000)}`] });
  await using ssh = startSink({ raw: "SSH-2.0-OpenSSH\r\n", after: "close" });
  await using mounting = startSink(inTurn(404, 404, 200));
  await using missing = startSink({ status: 404 });
  await using relay = await startRelay({
    endpoints: [
      endpoint("redirect", redirect),
      endpoint("stalled", stalled, { concurrency: 2, timeout: "5s" }),
      endpoint("endless", endless),
      endpoint("bodyless", bodyless, { ordered: true }),
      endpoint("gone", gone),
      endpoint("odd", odd),
      endpoint("control", control),
      endpoint("enormous", enormous),
      endpoint("ssh", ssh),
      endpoint("mounting", mounting, { retryStatuses: [404] }),
      endpoint("missing", missing),
    ],
  });

  await behaviour("a redirect is not followed and ends the delivery", async () => {
    const { deliveryId } = await accept(relay, "redirect");
    const { reason, attempts } = await reached(relay, deliveryId, "dead");
    assert.equal(reason, "redirect");
    assert.deepEqual([attempts[0].status, attempts[0].location], [301, "/other"]);
    assert.deepEqual(redirect.requests.map(({ target }) => target), ["/in"]);
  });

  await behaviour("the status counts although the answer's body hangs", async () => {
    const accepted = await inParallel(6, 6, () => accept(relay, "stalled"));
    for (const { deliveryId } of accepted) {
      const { attemptCount } = await reached(relay, deliveryId, "delivered");
      assert.equal(attemptCount, 1);
    }
    assert.equal(stalled.requests.length, 6);
  });

  await behaviour("an endless answer is a yes in bounded memory", async () => {
    const rssBytes = relay.rssBytes();
    const accepted = await inParallel(20, 20, () => accept(relay, "endless"));
    for (const { deliveryId } of accepted) await reached(relay, deliveryId, "delivered");
    await until(() => endless.openConnections === 0, { what: "the connections to be dropped" });
    const grown = relay.rssBytes() - rssBytes;
    assert(grown < 60 * MIB, `memory grew by ${grown} bytes`);
  });

  await behaviour("answers without a body are a yes, 304 is a redirect", async () => {
    const accepted = [];
    for (let n = 0; n < 5; n++) accepted.push(await accept(relay, "bodyless"));
    for (const { deliveryId } of accepted.slice(0, 4)) {
      await reached(relay, deliveryId, "delivered");
    }
    assert.equal((await reached(relay, accepted[4].deliveryId, "dead")).reason, "redirect");
  });

  await behaviour("410 is final, and a replay still works", async () => {
    const { deliveryId } = await accept(relay, "gone");
    const dead = await reached(relay, deliveryId, "dead");
    assert.deepEqual(dead.attempts.map(({ status }) => status), [410]);
    assert.equal(dead.reason, "rejected");
    assert.equal(await replay(relay, deliveryId), 202);
    await reached(relay, deliveryId, "delivered");
  });

  await behaviour("statuses off the map are retried", async () => {
    const { deliveryId } = await accept(relay, "odd");
    const { attemptCount } = await reached(relay, deliveryId, "delivered");
    assert.equal(attemptCount, 3);
    assert.equal(attemptsOf(odd, deliveryId).length, 3);
  });

  for (const id of ["control", "enormous", "ssh"]) {
    await behaviour(
      `an answer that is no HTTP (${id}) is a failed attempt with a code`,
      async () => {
        const { deliveryId } = await accept(relay, id);
        const settled = await until(async () => {
          const found = await delivery(relay, deliveryId);
          return ["dead", "delivered"].includes(found.state) ? found : undefined;
        }, { what: `${id} to settle` });
        // A lenient parser may let a control character or a large head pass as an answer.
        if (settled.state === "delivered" && id !== "ssh") return;
        const { reason, attempts } = await reached(relay, deliveryId, "dead");
        assert.equal(reason, "exhausted");
        assert.equal(attempts.length, 3);
        for (const { code } of attempts) assert.match(String(code), /^[a-z_]+$/);
      },
    );
  }

  await behaviour("404 is retried where the operator says so", async () => {
    const { deliveryId } = await accept(relay, "mounting");
    assert.equal((await reached(relay, deliveryId, "delivered")).attemptCount, 3);
  });

  await behaviour("404 is final elsewhere", async () => {
    const { deliveryId } = await accept(relay, "missing");
    const { reason, attemptCount } = await reached(relay, deliveryId, "dead");
    assert.deepEqual([reason, attemptCount], ["rejected", 1]);
  });

  await behaviour("none of it is an exception in the log", () => {
    assert.doesNotMatch(relay.output, /\bat \S+ \(?(file|npm|ext):|Uncaught|RangeError|TypeError/);
    return Promise.resolve();
  });
});
