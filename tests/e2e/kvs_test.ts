import assert from "node:assert/strict";
import { arrival } from "../helpers/arrivals.ts";
import { random, sha256 } from "../helpers/bytes.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { allDeliveries, delivery } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept, post, type PostOptions } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

/** Around one value of the store, one stored chunk, one commit, and the largest body allowed. */
const SIZES = [
  ...[0, 1, 61_439, 61_440, 61_441, 65_519, 65_535, 65_536, 65_537, 131_072],
  ...[655_359, 655_360, 655_361, 700_000, 819_199, 819_200, 819_201],
  ...[1_048_575, 1_048_576, 1_048_577, 5_242_880, 26_214_400],
];

group("sizes at the store's limits", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });

  for (const size of SIZES) {
    await behaviour(`a body of ${size} bytes arrives intact`, async () => {
      const body = random(size);
      const accepted = await accept(relay, "demo", { body });
      assert.equal(sha256((await arrival(sink, accepted)).body), sha256(body));
      const { bytes, sha256: stored } = await delivery(relay, accepted.deliveryId);
      assert.deepEqual([bytes, stored], [size, sha256(body)]);
    });
  }

  await behaviour("one byte above the largest body is answered 413", async () => {
    const { http, code } = await post(relay, "demo", { body: random(26_214_401) });
    assert.deepEqual([http, code], [413, "payload_too_large"]);
  });

  await behaviour("forty bodies of 60 KB at once arrive intact", async () => {
    const bodies = Array.from({ length: 40 }, () => random(60_000));
    const accepted = await inParallel(40, 40, (n) => accept(relay, "demo", { body: bodies[n] }));
    for (const [n, answer] of accepted.entries()) {
      assert.equal(sha256((await arrival(sink, answer)).body), sha256(bodies[n]));
    }
  });

  await behaviour("one known id among 99 new ones spoils nothing", async () => {
    const withId = (id: string): PostOptions => ({ body: id, headers: { "x-request-id": id } });
    await accept(relay, "demo", withId("known"));
    for (let round = 0; round < 5; round++) {
      const answers = await inParallel(
        100,
        100,
        (n) => post(relay, "demo", withId(n === 50 ? "known" : `r${round}-${n}`)),
      );
      assert.deepEqual(
        answers.map(({ status }) => status),
        answers.map((_, n) => n === 50 ? "duplicate" : "accepted"),
      );
    }
    const arrived = () => sink.requests.flatMap((request) => request.values("x-request-id"));
    await until(() => arrived().length >= 496, {
      what: () => `all events at the target; ${arrived().length} came`,
    });
    assert.equal(new Set(arrived()).size, 496);
    assert.equal(arrived().length, 496);
  });

  const heads: [lines: number, bodyBytes: number][] = [[50, 20_000], [62, 100]];
  for (const [lines, bodyBytes] of heads) {
    await behaviour(
      `${lines} headers of 1,000 bytes are stored whole or refused whole`,
      async () => {
        const before = (await allDeliveries(relay, "endpoint=demo&limit=100")).length;
        const body = random(bodyBytes);
        const headers = Object.fromEntries(
          Array.from({ length: lines }, (_, n) => [`X-Long-${n}`, `${n}`.padEnd(1_000, "v")]),
        );
        const answer = await post(relay, "demo", { body, headers });
        if (answer.http === 431) {
          const after = (await allDeliveries(relay, "endpoint=demo&limit=100")).length;
          return assert.equal(after, before);
        }
        assert.equal(answer.http, 202);
        const request = await arrival(sink, answer);
        assert.equal(sha256(request.body), sha256(body));
        for (const [name, value] of Object.entries(headers)) {
          assert.deepEqual(request.values(name), [value]);
        }
      },
    );
  }

  await behaviour("ten bodies of 20 MiB at once stay out of memory", async () => {
    const body = random(20 * 1024 * 1024);
    const accepted = await inParallel(
      10,
      10,
      (n) => accept(relay, "demo", { body, headers: { "x-request-id": `big-${n}` } }),
    );
    assert(relay.rssBytes() < 400 * 1024 * 1024, `memory is ${relay.rssBytes()} bytes`);
    for (const answer of accepted) {
      assert.equal(sha256((await arrival(sink, answer)).body), sha256(body));
    }
  });
});
