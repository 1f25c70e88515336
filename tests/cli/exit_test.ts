import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { group, test } from "../helpers/group.ts";
import { freePort } from "../helpers/ports.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { cli } from "./cli.ts";

const COMMANDS = [
  ...["status", "endpoints", "pause", "resume", "enable", "disable", "test", "deliveries"],
  ...["show", "payload", "dead", "replay", "github", "tail", "send", "verify", "doctor"],
];

group("the command line without a relay", async (behaviour) => {
  const unreachable = { HOLDFAST_URL: `http://127.0.0.1:${freePort()}` };

  await behaviour("help names every command, the exit codes and examples", async () => {
    const { code, stdout } = await cli(undefined, ["--help"]);
    assert.equal(code, 0);
    for (const command of COMMANDS) assert.match(stdout, new RegExp(`^  ${command}\\b`, "m"));
    assert.match(stdout, /Exit codes:/);
    assert.match(stdout, /Examples:/);
  });

  await behaviour("every command's help shows examples", async () => {
    const helps = await Promise.all(COMMANDS.map((name) => cli(undefined, [name, "--help"])));
    helps.forEach(({ code, stdout }, index) => {
      assert.equal(code, 0);
      assert.match(stdout, new RegExp(`deno task cli ${COMMANDS[index]} ?`), COMMANDS[index]);
    });
  });

  const wrong: Record<string, string[]> = {
    "an unknown command": ["statsu"],
    "an unknown option": ["status", "--jsn"],
    "a missing argument": ["show"],
    "a time that is none": ["deliveries", "--since", "yesterday"],
    "a limit that is none": ["deliveries", "--limit", "0"],
    "a replay of nothing": ["replay"],
    "a replay of ids and a filter": ["replay", "01JZ3V7Q0W2M5X8R4T6Y9B1C3D", "--since", "2h"],
    "a header that is none": ["send", "demo", "-H", "nonsense"],
    "a file that is not there": ["send", "demo", "/nowhere/event.json"],
    "an address that is none": ["status", "--url", "relay.example"],
  };
  await Promise.all(
    Object.entries(wrong).map(([what, args]) =>
      behaviour(`${what} ends with 2 and says why`, async () => {
        const { code, stdout, stderr } = await cli(undefined, args, { env: unreachable });
        assert.equal(code, 2, stderr);
        assert.equal(stdout, "");
        assert.notEqual(stderr, "");
      })
    ),
  );

  await behaviour("a relay that does not listen ends with 3", async () => {
    const { code, stderr } = await cli(undefined, ["status"], { env: unreachable });
    assert.equal(code, 3);
    assert.match(stderr, /cannot reach the relay at .*: connection refused/);
  });

  await behaviour("a live view of a relay that does not listen ends with 3", async () => {
    assert.equal((await cli(undefined, ["tail"], { env: unreachable })).code, 3);
  });
});

group("the command line and its token", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });

  await behaviour("a wrong token ends with 4 and is not shown", async () => {
    const { code, stdout, stderr } = await cli(relay, ["status"], {
      env: { ADMIN_TOKEN: "wrong-one" },
    });
    assert.equal(code, 4);
    assert.match(stderr, /ADMIN_TOKEN/);
    assert.doesNotMatch(stdout + stderr, /wrong-one/);
  });

  await behaviour("no token ends with 4", async () => {
    const { code, stderr } = await cli(relay, ["deliveries"], { env: { ADMIN_TOKEN: "" } });
    assert.equal(code, 4);
    assert.match(stderr, /ADMIN_TOKEN is not set/);
  });

  await behaviour("sending needs no token", async () => {
    const { code } = await cli(relay, ["send", "demo"], { env: { ADMIN_TOKEN: "" }, input: "{}" });
    assert.equal(code, 0);
  });

  await behaviour("what the relay does not know ends with 1", async () => {
    const unknown = [
      ["show", "01JZ3V7Q0W2M5X8R4T6Y9B1C3D"],
      ["pause", "nobody"],
      ["send", "nobody"],
      ["deliveries", "--state", "ded"],
    ];
    for (const args of unknown) {
      const { code, stderr } = await cli(relay, args, { input: "{}" });
      assert.equal(code, 1, `${args}: ${stderr}`);
      assert.match(stderr, /cannot .*\[4\d\d \w+\]/);
    }
  });
});

test("a relay without an admin token ends with 4", async () => {
  await using relay = await startRelay({ env: { ADMIN_TOKEN: "" } });
  const { code, stderr } = await cli(relay, ["status"]);
  assert.equal(code, 4);
  assert.match(stderr, /admin_disabled/);
});

test("another server than a relay is told apart", async () => {
  const page = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("<h1>hello</h1>", { headers: { "content-type": "text/html" } }),
  );
  const env = { HOLDFAST_URL: `http://127.0.0.1:${page.addr.port}` };
  const { code, stderr } = await cli(undefined, ["status"], { env });
  await page.shutdown();
  assert.equal(code, 1);
  assert.match(stderr, /not JSON/);
});
