import assert from "node:assert/strict";
import { hmacHex } from "../helpers/bytes.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group, test } from "../helpers/group.ts";
import { reached, read } from "../helpers/operator.ts";
import { accept, post } from "../helpers/post.ts";
import { freePort } from "../helpers/ports.ts";
import { runToExit, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

const SECRETS = /s3cr3t|q53cr3t/;
const DEBUG = { LOG_LEVEL: "debug" };

group("a target's URL in what operators see", async (behaviour) => {
  const url = `http://127.0.0.1:${freePort()}/services/T0/B0/s3cr3t?token=q53cr3t`;
  await using moved = startSink({
    status: 302,
    headers: ["Location: /services/T0/B0/s3cr3t?token=q53cr3t"],
  });
  await using relay = await startRelay({
    endpoints: [
      endpoint("demo", url, { headers: { "x-key": "s3cr3t-header" }, signingSecret: "s3cr3t-key" }),
      endpoint("moved", moved.url("/services/T0/B0/s3cr3t?token=q53cr3t")),
    ],
    env: DEBUG,
  });
  const dead = await reached(relay, (await accept(relay, "demo")).deliveryId, "dead");
  const redirected = await reached(relay, (await accept(relay, "moved")).deliveryId, "dead");

  const routes = [
    "/deliveries",
    `/deliveries/${dead.id}`,
    `/deliveries/${redirected.id}`,
    "/dead-letters/demo",
  ];
  for (const route of routes) {
    await behaviour(`${route.replace(/[0-9A-Z]{26}/, ":id")} shows no part of it`, async () => {
      assert.doesNotMatch(JSON.stringify(await read(relay, route)), SECRETS);
    });
  }

  await behaviour("the log shows no part of it", () => {
    assert.doesNotMatch(relay.output, SECRETS);
    return Promise.resolve();
  });
});

test("a bad configuration is reported without the target's URL", async () => {
  const { code, output } = await runToExit({
    endpoints: [
      endpoint("demo", "http://127.0.0.1:1/services/T0/B0/s3cr3t?token=q53cr3t", { timeout: "1y" }),
    ],
  });
  assert.equal(code, 1);
  assert.match(output, /demo.*timeout/);
  assert.doesNotMatch(output, SECRETS);
});

group("a sender's credentials", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [
      endpoint("demo", sink, { secret: "k3y", signatureHeader: "x-signature" }),
    ],
    env: DEBUG,
  });
  const VALUES = /sk_live_abc|xyzzy-cookie|k123-key|tt9-token|body-words/;
  const send = (id: string, signature: string) =>
    post(relay, id, {
      body: "body-words",
      rest: "?access_token=tt9-token",
      headers: {
        "Authorization": "Bearer sk_live_abc",
        "Cookie": "s=xyzzy-cookie",
        "X-Api-Key": "k123-key",
        "x-signature": signature,
      },
    });
  const right = hmacHex("k3y", "body-words");

  await behaviour("a refused request leaves none of them in the log", async () => {
    const { http, response } = await send("demo", "00");
    assert.equal(http, 401);
    assert.doesNotMatch(response.text, VALUES);
    assert.doesNotMatch(relay.output, VALUES);
  });

  await behaviour("an accepted one leaves none in the log or the operator's lists", async () => {
    const { deliveryId } = await send("demo", right);
    const shown = await reached(relay, deliveryId, "delivered");
    assert.doesNotMatch(JSON.stringify(shown), VALUES);
    assert.doesNotMatch(relay.output, VALUES);
  });
});

test("every log line is JSON that the relay itself wrote", async () => {
  await using sink = startSink({ status: 500, reason: "a\tb" });
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, { idPath: "id" })],
    env: DEBUG,
  });
  await post(relay, "nope%0A%7B%22level%22%3A%22fatal%22%7D");
  const { deliveryId } = await accept(relay, "demo", {
    body: String.raw`{"id":"a\r\n{\"level\":\"fatal\"}\u001b[2J"}`,
    headers: { "User-Agent": "x\x9b31m", "x-y": "\x9b31m" },
  });
  await reached(relay, deliveryId, "dead");
  await until(() => relay.output.endsWith("\n"), { what: "the last line to be whole" });
  for (const line of relay.output.trimEnd().split("\n")) {
    const entry = JSON.parse(line);
    assert.match(String(entry.level), /^(debug|info|warn|error)$/, line);
    assert.equal(typeof entry.event, "string", line);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(line, /[\x00-\x1f\x7f-\x9f]/, line);
  }
});
