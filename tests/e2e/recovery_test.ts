import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { test } from "../helpers/group.ts";
import { allDeliveries } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import type { Answer } from "../helpers/answer.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

test("500 deliveries that wait ten minutes each go out when the target is back, once each, oldest first", async () => {
  const count = 500;
  let answer: Answer = { status: 500 };
  await using sink = startSink(() => answer);
  const settings = {
    breaker: { failures: count, open: "500ms", cap: "500ms" },
    retry: { schedule: new Array(5).fill("10m") },
    concurrency: 10,
  };
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink, settings)] });
  await inParallel(count, 50, () => accept(relay, "demo"));
  await until(() => sink.requests.length >= count, { what: "each to fail once", withinMs: 60_000 });
  answer = { status: 200 };
  const before = sink.requests.length;
  await until(() => sink.requests.length >= before + count, {
    what: () => `all to come; ${sink.requests.length - before} came`,
    withinMs: 60_000,
  });
  const rows = await until(async () => {
    const all = await allDeliveries(relay, "endpoint=demo");
    return all.every(({ state }) => state === "delivered") ? all : undefined;
  }, { what: "all to be delivered" });
  assert.equal(rows.length, count);
  const ids = sink.requests.slice(-count).map((request) => request.header("holdfast-delivery-id")!);
  assert.equal(new Set(ids).size, count, "some came twice");
  assert(sink.peak <= 10, `${sink.peak} at once`);
  // Ten run side by side, so neighbours may swap; a late one in front would be out of order.
  const sorted = ids.toSorted();
  const strays = ids.filter((id, at) => Math.abs(sorted.indexOf(id) - at) > 60);
  assert(strays.length <= count / 20, `${strays.length} out of order`);
});
