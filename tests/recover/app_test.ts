import assert from "node:assert/strict";
import { APP_KEY, StandInGithub, TOKEN } from "../helpers/github.ts";
import { group, test } from "../helpers/group.ts";
import { statusOf } from "../helpers/operator.ts";
import { runToExit, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { firstPass, pointHook, repaired, startAppRelay, watch } from "./app_setup.ts";
import { strangersKey } from "./harness.ts";

test("what GitHub could not deliver while the relay was dead comes after its restart", async () => {
  await using sink = startSink();
  await using github = new StandInGithub();
  await using relay = await startAppRelay(sink, github);
  await firstPass(relay);
  await relay.kill("SIGKILL");
  const guids = [await github.deliver(), await github.deliver()];
  assert.deepEqual(github.rows.map((row) => row.status_code), [502, 502]);
  await relay.restart();
  pointHook(github, relay);
  await repaired(relay, (watch) => watch.repaired === 2);
  const atBackend = sink.requests.map((request) => request.header("x-github-delivery"));
  assert.deepEqual(atBackend.toSorted(), guids);
});

test("a relay that is told to stop in the middle of a repair stops in time", async () => {
  await using sink = startSink();
  await using github = new StandInGithub();
  await using relay = await startAppRelay(sink, github);
  await firstPass(relay);
  for (let n = 0; n < 30; n++) await github.deliver("fail");
  await repaired(relay, (watch) => watch.repairing > 0 && github.redeliveries.length > 1);
  assert.equal(await relay.kill("SIGTERM"), 0);
  assert(github.redeliveries.length < 30);
});

test("an App's key that GitHub does not know is told, and never shown", async () => {
  await using sink = startSink();
  await using github = new StandInGithub();
  const key = strangersKey();
  const env = { GITHUB_APP_PRIVATE_KEY: key, LOG_LEVEL: "debug" };
  await using relay = await startAppRelay(sink, github, { env });
  const { trouble, setup } = await repaired(relay, ({ trouble }) => trouble !== undefined);
  assert.equal(trouble?.kind, "credentials");
  assert.equal(setup.drifts[0]?.kind, "unreadable");
  const status = await (await relay.api("/status")).text();
  assert.match(status, /watchdog_failing/);
  const secret = key.split("\n")[5];
  assert(!`${relay.output}${status}${JSON.stringify(await watch(relay))}`.includes(secret));
});

test("a key with escaped line breaks works, and so does a clock an hour off GitHub's", async () => {
  await using sink = startSink();
  await using github = new StandInGithub();
  github.nowMs = () => Date.now() - 3_600_000;
  const env = { GITHUB_APP_PRIVATE_KEY: APP_KEY.replaceAll("\n", "\\n") };
  await using relay = await startAppRelay(sink, github, { env });
  await firstPass(relay);
  const guid = await github.deliver("fail");
  await repaired(relay, ({ repaired }) => repaired === 1);
  assert.equal(sink.requests[0].header("x-github-delivery"), guid);
});

test("an App whose setup differs is told: event, permission, address", async () => {
  await using sink = startSink();
  await using github = new StandInGithub({ events: ["push"], permissions: { contents: "read" } });
  await using relay = await startAppRelay(sink, github, {
    env: { PUBLIC_URL: "https://relay.example" },
    endpoint: { github: { app: true, events: ["push", "workflow_job"] } },
  });
  const { setup } = await repaired(relay, ({ setup }) => setup.state !== "unchecked");
  const kinds = setup.drifts.map(({ kind }) => kind);
  assert.deepEqual(kinds, ["missing_event", "missing_permission", "delivery_url"]);
  assert.match(setup.drifts[0].detail, /workflow_job.*actions/);
  const status = await (await relay.api("/status")).text();
  assert.match(status, /app_config_drift/);
});

for (const owner of [{ repo: "octo/repo" }, { org: "octo" }]) {
  test(`a hook of ${Object.keys(owner)[0]} is watched with its own token`, async () => {
    await using sink = startSink();
    await using github = new StandInGithub();
    await using relay = await startAppRelay(sink, github, {
      env: { GITHUB_APP_ID: "", GITHUB_APP_PRIVATE_KEY: "", HOOK_TOKEN: TOKEN },
      endpoint: { github: { ...owner, hookId: 1, token: "$env:HOOK_TOKEN" } },
    });
    await firstPass(relay);
    const guid = await github.deliver("fail");
    await repaired(relay, ({ repaired }) => repaired === 1);
    assert.equal(sink.requests[0].header("x-github-delivery"), guid);
  });
}

group("the API of GitHub recovery", async (behaviour) => {
  await using relay = await startRelay();
  await behaviour("shows no hooks where none is configured", async () => {
    const response = await relay.api("/github");
    assert.deepEqual(await response.json(), { items: [], cursor: null });
  });
  await behaviour("has nothing to repair where no hook is configured", async () => {
    assert.equal(await statusOf(relay.api("/github/repair", { method: "POST" })), 409);
  });
  await behaviour("refuses a parameter that it does not know", async () => {
    assert.equal(await statusOf(relay.api("/github?endpoint=gh")), 400);
  });
  await behaviour("is closed without the token", async () => {
    assert.equal(await statusOf(fetch(`${relay.origin}/api/v1/github`)), 401);
  });
});

const GH = {
  id: "gh",
  targetUrl: "http://127.0.0.1:9/",
  provider: "github",
  github: { app: true },
};
const MISTAKES: [name: string, setup: Parameters<typeof runToExit>[0], says: RegExp][] = [
  [
    "an App's key that is no key",
    { env: { GITHUB_APP_ID: "1", GITHUB_APP_PRIVATE_KEY: "s3cr3t" } },
    /GITHUB_APP_PRIVATE_KEY is not an RSA private key/,
  ],
  ["an App's id without its key", { env: { GITHUB_APP_ID: "1" } }, /PRIVATE_KEY is missing/],
  ["an App's endpoint without an App", { endpoints: [GH] }, /"gh": github.app needs GITHUB_APP_ID/],
  [
    "an endpoint that does not know GitHub's ids",
    { endpoints: [{ ...GH, provider: undefined }] },
    /github needs "provider": "github"/,
  ],
  [
    "a memory shorter than GitHub's history",
    { endpoints: [{ ...GH, dedupWindow: "1d" }] },
    /dedupWindow of at least 3d/,
  ],
  ["an API that is no URL", { env: { GITHUB_API_URL: "api" } }, /GITHUB_API_URL is not/],
  ["a grace that is no duration", { env: { GITHUB_WATCHDOG_GRACE: "soon" } }, /not a duration/],
];

for (const [name, setup, says] of MISTAKES) {
  test(`does not start with ${name}`, async () => {
    const { code, output } = await runToExit(setup);
    assert.equal(code, 1);
    assert.match(output, says);
    assert(!output.includes("s3cr3t"));
  });
}
