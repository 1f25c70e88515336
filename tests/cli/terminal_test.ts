import assert from "node:assert/strict";
import { bar } from "../../lib/cli/progress.ts";
import { instant, relative } from "../../lib/cli/time.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { reached } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { cli, jsonLines } from "./cli.ts";
import { inTerminal } from "./terminal.ts";

/** Clears a screen, retitles a window, rings, turns the writing round, and C1's own CSI. */
const HOSTILE = "e\u001b[2J\u001b]0;PWNED\u0007\u009b31m\u202eabc\u007f\r\nforged";
/** All that a terminal may obey, but for line ends and our own colours. */
const STEERING =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202a-\u202e]|\u001b(?!\[\d+m)/;
// deno-lint-ignore no-control-regex
const COLOUR = /\u001b\[\d+m/;

group("text from outside in an operator's terminal", async (behaviour) => {
  await using sink = startSink({ status: 404, reason: "gone\u001b[2J" });
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, { idPath: "id", showPayload: true })],
  });
  const body = JSON.stringify({ id: HOSTILE }) + "\u001b[2J\u009b31m\n";
  const { deliveryId, eventId } = await accept(relay, "demo", {
    body: JSON.stringify({ id: HOSTILE }),
    rest: "/%1b[2J",
    headers: { "x-y": "\x9b31m" },
  });
  const raw = await accept(relay, "demo", { body });
  await reached(relay, deliveryId, "dead");
  await reached(relay, raw.deliveryId, "dead");
  assert.equal(eventId, HOSTILE);

  const commands = [
    ["deliveries"],
    ["dead", "demo"],
    ["show", deliveryId],
    ["payload", raw.deliveryId],
    ["replay", deliveryId],
    ["status"],
    ["deliveries", "--state", HOSTILE],
    ["show", HOSTILE],
    [HOSTILE],
  ];
  for (const args of commands) {
    const shown = args.map((arg) => arg === HOSTILE ? "hostile" : arg.replace(/\w{26}/, "ID"));
    await behaviour(`${shown.join(" ")} writes nothing that steers it`, async () => {
      const { out, err } = await inTerminal(relay, args);
      assert.notEqual(out + err, "");
      assert.doesNotMatch(out + err, STEERING);
    });
  }

  for (const args of [["deliveries", "--json"], ["show", deliveryId, "--json"]]) {
    await behaviour(`${args[0]} as JSON is escaped and still the same text`, async () => {
      const { stdout } = await cli(relay, args);
      assert.doesNotMatch(stdout, STEERING);
      assert(jsonLines(stdout).some(({ eventId }) => eventId === HOSTILE));
    });
  }

  await behaviour("colours are for terminals, and not where nobody wants them", async () => {
    assert.match((await inTerminal(relay, ["status"])).out, COLOUR);
    assert.doesNotMatch((await inTerminal(relay, ["status"], { NO_COLOR: "1" })).out, COLOUR);
    assert.doesNotMatch((await inTerminal(relay, ["status", "--no-color"])).out, COLOUR);
    assert.doesNotMatch((await cli(relay, ["status"])).stdout, COLOUR);
  });
});

Deno.test("a replay's bar shows how much is done", () => {
  const job = { id: "j", state: "running" as const, total: 200, done: 90, skipped: 10 };
  assert.equal(bar(job), `${"█".repeat(15)}${"░".repeat(15)} 100/200 (50 %)`);
});

Deno.test("times of the command line are ISO 8601 or durations before now", async (t) => {
  const nowMs = Date.UTC(2026, 4, 14, 12);
  const cases: [string, string | undefined][] = [
    ["2h", "2026-05-14T10:00:00.000Z"],
    ["3d", "2026-05-11T12:00:00.000Z"],
    ["2026-05-14", "2026-05-14T00:00:00.000Z"],
    ["2026-05-14T09:30:00+02:00", "2026-05-14T07:30:00.000Z"],
    ["yesterday", undefined],
    ["2026", undefined],
    ["-2h", undefined],
    ["", undefined],
  ];
  for (const [text, iso] of cases) {
    await t.step(`${text || "nothing"} is ${iso ?? "no time"}`, () => {
      assert.equal(instant(text, nowMs), iso);
    });
  }
});

Deno.test("a time is shown as how long ago or how soon it is", () => {
  const nowMs = Date.UTC(2026, 4, 14, 12);
  const shown = ["2026-05-14T11:59:58Z", "2026-05-11T12:00:00Z", "2026-05-14T12:05:00Z"];
  assert.deepEqual(shown.map((iso) => relative(iso, nowMs)), ["2s ago", "3d ago", "in 5m"]);
});
