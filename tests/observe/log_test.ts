import assert from "node:assert/strict";
import { createLog, logEvents, type LogFormat } from "../../lib/observe/log.ts";
import type { Clock, LogLevel, RelayEvent } from "../../lib/ports.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { test } from "../helpers/group.ts";
import { reached, read } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { freePort } from "../helpers/ports.ts";
import { startRelay } from "../helpers/program.ts";
import { Listener } from "./listener.ts";

const AT_MS = Date.UTC(2026, 4, 14, 9, 30, 0, 123);
const STILL: Clock = { nowMs: () => AT_MS, monotonicMs: () => 0, after: () => () => {} };
/** A text that clears a screen, retitles a window, forges a line and turns the writing round. */
const HOSTILE = 'e\u001b[2J\u001b]0;PWNED\u0007\r\n{"level":"fatal"}\u009b31m\u202e\u2028\u007f';
// deno-lint-ignore no-control-regex
const STEERING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/;

function written(
  format: LogFormat,
  level: LogLevel,
  tell: (observe: (event: RelayEvent) => void) => void,
): string {
  let text = "";
  const { log, flush } = createLog(level, format, STILL, (lines) => text += lines);
  tell(logEvents(log));
  flush();
  return text;
}

const ATTEMPT: RelayEvent = {
  type: "attempt",
  endpoint: "demo",
  deliveryId: "01JZ3V7Q0W2M5X8R4T6Y9B1C3D",
  eventId: "e1",
  n: 2,
  atMs: AT_MS,
  ms: 12.3456,
  code: "timeout",
  outcome: "retry",
  retryAtMs: AT_MS + 5_000,
};

Deno.test("an attempt is one line of JSON with all its fields", () => {
  const line = written("json", "info", (observe) => observe(ATTEMPT));
  assert.deepEqual(JSON.parse(line), {
    time: "2026-05-14T09:30:00.123Z",
    level: "info",
    event: "attempt",
    endpoint: "demo",
    deliveryId: "01JZ3V7Q0W2M5X8R4T6Y9B1C3D",
    eventId: "e1",
    n: 2,
    ms: 12.3,
    code: "timeout",
    outcome: "retry",
    retryAtMs: AT_MS + 5_000,
  });
});

Deno.test("in a terminal an attempt reads as time, event, endpoint and fields", () => {
  assert.equal(
    written("text", "info", (observe) => observe(ATTEMPT)),
    "09:30:00.123 attempt     demo deliveryId=01JZ3V7Q0W2M5X8R4T6Y9B1C3D eventId=e1 n=2 " +
      "ms=12.3 code=timeout outcome=retry retryAtMs=09:30:05\n",
  );
});

Deno.test("colours are the only difference they make", () => {
  const coloured = written("colour", "info", (observe) => observe(ATTEMPT));
  // deno-lint-ignore no-control-regex
  const bare = coloured.replace(/\u001b\[\d+m/g, "");
  assert.notEqual(coloured, bare);
  assert.equal(bare, written("text", "info", (observe) => observe(ATTEMPT)));
});

Deno.test("text from outside neither ends a line nor steers a terminal", async (t) => {
  for (const format of ["json", "text"] as const) {
    await t.step(format, () => {
      const text = written(format, "info", (observe) => observe({ ...ATTEMPT, eventId: HOSTILE }));
      assert.doesNotMatch(text, STEERING);
      assert.equal(text.split("\n").length, 2);
    });
  }
});

Deno.test("escaped text is still the same text in JSON", () => {
  const line = written("json", "info", (observe) => observe({ ...ATTEMPT, eventId: HOSTILE }));
  assert.equal(JSON.parse(line).eventId, HOSTILE);
});

Deno.test("a level hides what is below it", () => {
  assert.equal(written("json", "warn", (observe) => observe(ATTEMPT)), "");
});

Deno.test("a dead letter, an open breaker and a store fault stand out", async (t) => {
  const cases: [RelayEvent, LogLevel][] = [
    [{
      type: "settled",
      atMs: AT_MS,
      endpoint: "demo",
      deliveryId: "1",
      state: "dead",
      reason: "rejected",
    }, "warn"],
    [{ type: "lane", atMs: AT_MS, endpoint: "demo", change: "opened" }, "warn"],
    [{ type: "lane", atMs: AT_MS, endpoint: "demo", change: "closed" }, "info"],
    [{ type: "store_error", atMs: AT_MS, doing: "prune", message: "gone" }, "error"],
  ];
  for (const [event, level] of cases) {
    await t.step(`${event.type} is ${level}`, () => {
      assert.equal(JSON.parse(written("json", "debug", (observe) => observe(event))).level, level);
    });
  }
});

test("a secret is told by no listener, no metric, no record and no test event", async () => {
  const url = `http://127.0.0.1:${freePort()}/services/T0/B0/s3cr3t?token=q53cr3t`;
  await using relay = await startRelay({
    endpoints: [endpoint("demo", url, { headers: { "x-key": "s3cr3t-header" } })],
    env: { LOG_LEVEL: "debug" },
  });
  await using listener = await Listener.open(relay);
  const { deliveryId } = await accept(relay, "demo", {
    body: "body-words",
    rest: "/tt9-path?access_token=tt9-token",
    headers: { "Authorization": "Bearer sk_live_abc", "X-Api-Key": "k123-key" },
  });
  await reached(relay, deliveryId, "dead");
  await listener.settled(deliveryId);
  const told = [
    listener.text,
    relay.output,
    await (await relay.asOperator("/metrics")).text(),
    JSON.stringify(await read(relay, "/status")),
    JSON.stringify(await read(relay, "/endpoints/demo/test", { method: "POST" })),
  ];
  for (const text of told) {
    assert.doesNotMatch(text, /s3cr3t|body-words|tt9-|sk_live|k123/);
  }
});
