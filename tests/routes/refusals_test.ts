import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";

const UNKNOWN = "01HZZZZZZZZZZZZZZZZZZZZZZZ";

/** Requests that must be refused, and what the refusal must name. */
const BAD: [method: string, path: string, named: RegExp, body?: string][] = [
  ["GET", "/status?verbose=1", /verbose/],
  ["GET", "/endpoints?state=open", /state/],
  ["GET", "/endpoints/demo?x=", /x is not known/],
  ["POST", "/endpoints/demo/pause?for=5m", /for is not known/],
  ["GET", "/deliveries?endpont=demo", /endpont/],
  ["GET", "/deliveries?state=lost", /state is not one of pending/],
  ["GET", "/deliveries?state=dead&state=pending", /state/],
  ["GET", "/deliveries?limit=5&limit=6", /limit is given more than once/],
  ["GET", "/deliveries?limit=0", /limit/],
  ["GET", "/deliveries?since=yesterday", /since is not an ISO 8601 time/],
  ["GET", "/deliveries?endpoint=", /endpoint is empty/],
  ["GET", "/dead-letters/demo?state=pending", /state is not known/],
  ["POST", `/deliveries/${UNKNOWN}/replay?force=true`, /force/],
  ["POST", "/replays", /body is not JSON/, ""],
  ["POST", "/replays", /body is not JSON/, "{"],
  ["POST", "/replays", /body is not of type object/, "[]"],
  ["POST", "/replays", /state is missing/, "{}"],
  ["POST", "/replays", /state is missing/, `{"dryRun":true}`],
  ["POST", "/replays", /endpont is not known/, `{"endpont":"demo"}`],
  ["POST", "/replays", /state is not one of dead, delivered/, `{"state":"pending"}`],
  ["POST", "/replays", /reason/, `{"reason":"bored"}`],
  ["POST", "/replays", /reason/, `{"reason":"rejected","state":"delivered"}`],
  ["POST", "/replays", /endpoint is not of type string/, `{"endpoint":["demo"]}`],
  ["POST", "/replays", /since/, `{"endpoint":"demo","since":1700000000}`],
  ["POST", "/replays", /dryRun is not of type boolean/, `{"endpoint":"demo","dryRun":"no"}`],
  ["POST", "/replays?dryRun=true", /dryRun is not known/, `{"endpoint":"demo"}`],
];

const MISSING: [method: string, path: string, code: string, body?: string][] = [
  ["GET", "/nope", "not_found"],
  ["GET", "/status/", "not_found"],
  ["GET", "/endpoints/nope", "unknown_endpoint"],
  ["GET", "/deliveries?endpoint=nope", "unknown_endpoint"],
  ["GET", `/deliveries/${UNKNOWN}`, "unknown_delivery"],
  ["GET", `/deliveries/${"A".repeat(3_000)}`, "unknown_delivery"],
  ["GET", `/deliveries/%00`, "unknown_delivery"],
  ["GET", `/deliveries/${UNKNOWN}/payload`, "unknown_delivery"],
  ["GET", `/deliveries/${"A".repeat(3_000)}/payload`, "unknown_delivery"],
  ["POST", `/deliveries/${UNKNOWN}/cancel`, "unknown_delivery"],
  ["GET", "/dead-letters/nope", "unknown_endpoint"],
  ["POST", `/dead-letters/${"A".repeat(3_000)}/${UNKNOWN}/replay`, "unknown_delivery"],
  ["GET", `/replays/${UNKNOWN}`, "unknown_job"],
  ["GET", "/replays/nope", "unknown_job"],
  ["POST", `/replays/${"A".repeat(3_000)}/cancel`, "unknown_job"],
  ["POST", "/replays", "unknown_endpoint", `{"endpoint":"nope"}`],
];

const WRONG_METHOD: [method: string, path: string, allow: string][] = [
  ["POST", "/api/v1/status", "GET, HEAD"],
  ["DELETE", "/api/v1/endpoints/demo", "GET, HEAD"],
  ["GET", "/api/v1/endpoints/demo/pause", "POST"],
  ["PUT", `/api/v1/deliveries/${UNKNOWN}/replay`, "POST"],
  ["DELETE", "/api/v1/replays", "GET, HEAD, POST"],
  ["POST", "/dead-letters/demo", "GET, HEAD"],
  ["POST", "/healthz", "GET, HEAD"],
  ["POST", "/openapi.json", "GET, HEAD"],
];

group("refusals", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });

  const refused = async (method: string, path: string, body?: string) => {
    const response = await relay.asOperator(path, { method, body });
    assert.equal(response.headers.get("content-type"), "application/problem+json", path);
    const problem = await response.json();
    assert.deepEqual(Object.keys(problem), ["type", "title", "status", "code", "detail"]);
    assert.equal(problem.status, response.status);
    assert.equal(problem.type, `urn:holdfast:problem:${problem.code}`);
    return { ...problem, headers: response.headers } as {
      status: number;
      code: string;
      detail: string;
      headers: Headers;
    };
  };

  for (const [method, path, named, body] of BAD) {
    await behaviour(`${method} ${path} ${body ?? ""} is a bad parameter`, async () => {
      const { code, detail } = await refused(method, `/api/v1${path}`, body);
      assert.equal(code, "bad_parameter");
      assert.match(detail, named);
    });
  }

  for (const [method, path, code, body] of MISSING) {
    await behaviour(`${method} ${path.slice(0, 40)} ${body ?? ""} is ${code}`, async () => {
      const problem = await refused(method, `/api/v1${path}`, body);
      assert.deepEqual([problem.status, problem.code], [404, code]);
    });
  }

  for (const [method, path, allow] of WRONG_METHOD) {
    await behaviour(`${method} ${path} is told what is allowed`, async () => {
      const { status, code, headers } = await refused(method, path);
      assert.deepEqual([status, code], [405, "method_not_allowed"]);
      assert.equal(headers.get("allow"), allow);
    });
  }

  await behaviour("a body too long for any filter is refused unread", async () => {
    const { status, code } = await refused("POST", "/api/v1/replays", " ".repeat(70_000));
    assert.deepEqual([status, code], [413, "payload_too_large"]);
  });

  await behaviour("a filter is read whatever type is on it, and never ignored", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json"]) {
      const response = await relay.api("/replays", {
        method: "POST",
        headers: { "content-type": type },
        body: `{"endpoint":"nope"}`,
      });
      assert.equal((await response.json()).code, "unknown_endpoint", type);
    }
  });

  await behaviour("unknown routes and methods tell nothing to strangers", async () => {
    for (const path of ["/api/v1/nope", "/api/v1/status", "/api/v2", "/dead-letters/demo"]) {
      const response = await fetch(relay.origin + path, { method: "DELETE" });
      assert.deepEqual([response.status, (await response.json()).code], [401, "unauthorized"]);
    }
  });
});
