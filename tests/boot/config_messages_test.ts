import assert from "node:assert/strict";
import { parseConfig } from "../../lib/config.ts";

const HUSH = "hush-hush";

function faultsOf(env: Record<string, string>): readonly string[] {
  const config = parseConfig({ env, providers: new Set(["github"]), defaultHost: "127.0.0.1" });
  assert("faults" in config);
  return config.faults;
}

/** A field that is wrong, and how the message about it goes on after the endpoint's name. */
const FIELDS: [field: Record<string, unknown>, message: string][] = [
  [{ breaker: { failures: 3, opne: "3s" } }, "breaker.opne is not a known field"],
  [{ breaker: { failures: HUSH } }, "breaker.failures has to be of type number, not string"],
  [{ breaker: HUSH }, "breaker is neither false nor an object of failures, open and cap"],
  [{ retry: { schedule: ["1s"], tries: 1 } }, "retry.tries is not a known field"],
  [{ provider: HUSH }, "provider is not a known sender (docs/senders.md lists them)"],
  [{ headers: { "a b": HUSH } }, "headers.a b is not the name of a header"],
  [{ headers: [HUSH] }, "headers has to be of type object, not array"],
  [{ github: { app: HUSH } }, "github.app has to be true"],
  [{ ordered: HUSH }, "ordered has to be of type boolean, not string"],
  [{ concurrency: 0 }, "concurrency has to be >=1"],
  [{ rateLimit: 100_001 }, "rateLimit has to be <=100000"],
];

for (const [field, message] of FIELDS) {
  Deno.test(`${JSON.stringify(field)} is refused in words`, () => {
    const entry = { id: "demo", targetUrl: "https://app.example.com/in", ...field };
    assert.deepEqual(faultsOf({ ENDPOINTS: JSON.stringify([entry]) }), [
      `cannot use endpoint "demo": ${message}`,
    ]);
  });
}

/** A text that is no list of endpoints, and how the message about it goes on. */
const LISTS: [json: string, message: string][] = [
  [`[{"id":"demo","secret":"${HUSH}",]`, "is not valid JSON, line 1 column 36"],
  [`[\n {"secret":"${HUSH}"}\n "${HUSH}"]`, "is not valid JSON, line 3 column 2"],
  [HUSH, "is not valid JSON"],
  [`{"secret":"${HUSH}"}`, "is JSON, but not a list of endpoints"],
];

for (const [json, message] of LISTS) {
  Deno.test(`endpoints of ${JSON.stringify(json)} are refused in words`, () => {
    assert.deepEqual(faultsOf({ ENDPOINTS: json }), [
      `cannot read endpoints: ENDPOINTS ${message}`,
    ]);
  });
}

Deno.test("a setting of a few words names them all", () => {
  assert.deepEqual(faultsOf({ SCHEDULER: HUSH, LOG_LEVEL: HUSH }), [
    "cannot start: SCHEDULER is not one of auto, queue, sweep",
    "cannot start: LOG_LEVEL is not one of debug, info, warn, error",
  ]);
});
