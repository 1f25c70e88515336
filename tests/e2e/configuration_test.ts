import assert from "node:assert/strict";
import { cronSchedule } from "../../lib/boot/cron.ts";
import { test } from "../helpers/group.ts";
import { post } from "../helpers/post.ts";
import { runToExit, startRelay } from "../helpers/program.ts";

const TARGET = "http://127.0.0.1:9/in";

/** Values that must not be repeated in a message: any of them may be a secret. */
const HUSH = "hush-hush";

/** Endpoint fields that stop the start; the message names endpoint and field. */
const BAD_FIELDS: [id: string, field: string, value: unknown][] = [
  ["unknown", "retires", 3],
  ["duration", "timeout", "soon"],
  ["policy", "retry", "sometimes"],
  ["wait", "retry", { schedule: ["999999999999d"] }],
  ["window", "dedupWindow", "999999999999d"],
  ["no-url", "targetUrl", HUSH],
  ["no-target", "targetUrl", undefined],
  ["scheme", "targetUrl", "ftp://h/"],
  ["provider", "provider", HUSH],
  ["variable", "signingSecret", "$env:NOWHERE"],
  ["blank", "secret", " "],
  ["status", "acceptStatus", 500],
  ["limit", "maxBodyBytes", -1],
  ["breaker", "breaker", { open: "5m", cap: "1m" }],
];

const BAD_SETTINGS: Record<string, string> = {
  PORT: HUSH,
  LEASE: HUSH,
  SCHEDULER: HUSH,
  CRON_MINUTES: HUSH,
  LOG_LEVEL: HUSH,
  PUBLIC_URL: HUSH,
  ALLOW_PRIVATE_TARGETS: HUSH,
};

/** Runs a relay that must not start and returns its message, which shows no value. */
async function refusal(env: Record<string, string>): Promise<string[]> {
  const { code, output } = await runToExit({ env });
  assert.equal(code, 1, output);
  assert.doesNotMatch(output, new RegExp(HUSH));
  assert.doesNotMatch(output, /^\s+at /m, "a stack trace is no message");
  return output.split("\n");
}

const names = (lines: string[], ...words: string[]) =>
  assert(
    lines.some((line) => words.every((word) => line.includes(word))),
    `no line names ${words.join(" and ")}:\n${lines.join("\n")}`,
  );

test("every bad field of every endpoint is named at once", async () => {
  const entries = BAD_FIELDS.map(([id, field, value]) => ({
    id,
    targetUrl: TARGET,
    secret: HUSH,
    [field]: value,
  }));
  const lines = await refusal({ ENDPOINTS: JSON.stringify(entries) });
  for (const [id, field] of BAD_FIELDS) names(lines, id, field);
  names(lines, "NOWHERE");
});

test("every bad setting is named at once", async () => {
  const lines = await refusal(BAD_SETTINGS);
  for (const name of Object.keys(BAD_SETTINGS)) names(lines, name);
});

for (const user of ["user", `user:${HUSH}`, `:${HUSH}`]) {
  test(`addresses with ${user.replace(HUSH, "a password")}@ in them stop the start`, async () => {
    const settings = ["PUBLIC_URL", "GITHUB_API_URL", "OAUTH_ISSUER"];
    const lines = await refusal(
      Object.fromEntries(settings.map((name) => [name, `https://${user}@h.example`])),
    );
    for (const name of settings) names(lines, name);
  });
}

test("an id used twice stops the start", async () => {
  const twice = [1, 2].map(() => ({ id: "demo", targetUrl: TARGET }));
  names(await refusal({ ENDPOINTS: JSON.stringify(twice) }), "demo", "twice");
});

test("a broken list of endpoints stops the start", async () => {
  names(await refusal({ ENDPOINTS: `[{"id":"demo","secret":"${HUSH}"` }), "ENDPOINTS");
  names(await refusal({ ENDPOINTS: `{"demo":{"secret":"${HUSH}"}}` }), "ENDPOINTS");
});

test("a store that cannot be opened stops the start", async () => {
  names(await refusal({ KV_PATH: "/proc/nowhere/relay.db" }), "KV_PATH");
});

test("a store file that is no database stops the start and is left as it is", async () => {
  const folder = await Deno.makeTempDir({ prefix: "holdfast-test-" });
  try {
    const kvPath = `${folder}/notes.txt`;
    await Deno.writeTextFile(kvPath, "not a database, and not ours to write\n".repeat(200));
    const { code, output } = await runToExit({ kvPath });
    assert.equal(code, 1);
    assert.match(output, /KV_PATH/);
    assert.match(await Deno.readTextFile(kvPath), /^not a database/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

test("a port that is taken stops the start with a clear line", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const { code, output } = await runToExit({ env: { PORT: String(port) } });
  assert.equal(code, 1);
  assert.match(output, new RegExp(`PORT|${port}`));
});

test("an unknown variable with one of our prefixes is warned about", async () => {
  await using relay = await startRelay({ env: { RELAY_TRAGETS: "https://example.com" } });
  assert.match(relay.output, /RELAY_TRAGETS/);
});

test("endpoints are read from the file that ENDPOINTS_FILE names", async () => {
  const path = await Deno.makeTempFile({ prefix: "holdfast-test-", suffix: ".json" });
  try {
    await Deno.writeTextFile(path, JSON.stringify([{ id: "filed", targetUrl: TARGET }]));
    await using relay = await startRelay({ env: { ENDPOINTS: "", ENDPOINTS_FILE: path } });
    assert.equal((await post(relay, "filed")).http, 202);
  } finally {
    await Deno.remove(path);
  }
});

test("a relay without endpoints starts and knows none", async () => {
  await using relay = await startRelay({});
  assert.equal((await post(relay, "demo")).http, 404);
});

for (
  const [minutes, schedule] of [
    [undefined, "* * * * *"],
    ["", "* * * * *"],
    ["1", "* * * * *"],
    [" 5 ", "*/5 * * * *"],
    ["30", "*/30 * * * *"],
    ["0", "* * * * *"],
    ["31", "* * * * *"],
    ["5 * * * *", "* * * * *"],
  ]
) {
  Deno.test(`CRON_MINUTES=${minutes ?? " (not set)"} has cron come by at "${schedule}"`, () => {
    assert.equal(cronSchedule(minutes), schedule);
  });
}
