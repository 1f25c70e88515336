import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { test } from "../helpers/group.ts";
import { read } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

const OLD = 200;
const NEW = 200;

test("what is new is delivered beside a backlog, and neither starves the other", async () => {
  await using sink = startSink({ delayMs: 20 });
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink, { concurrency: 4 })] });
  await read(relay, "/endpoints/demo/pause", { method: "POST" });
  await inParallel(OLD, 20, (n) => accept(relay, "demo", { body: `old ${n}` }));
  await read(relay, "/endpoints/demo/resume", { method: "POST" });
  await inParallel(NEW, 16, (n) => accept(relay, "demo", { body: `new ${n}` }));
  await until(() => sink.requests.length >= OLD + NEW, {
    what: () => `all to arrive: ${sink.requests.length} did`,
    withinMs: 30_000,
  });
  const bodies = sink.bodies;
  assert.equal(new Set(bodies).size, OLD + NEW);
  const early = bodies.slice(0, OLD).filter((body) => body.startsWith("new")).length;
  assert(early > 0, "every new one waited for the whole backlog");
  assert(early < OLD * 0.9, `${early} of the first ${OLD} to arrive were new`);
});
