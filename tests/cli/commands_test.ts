import assert from "node:assert/strict";
import { random } from "../helpers/bytes.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group, test } from "../helpers/group.ts";
import { delivery, reached } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import { cli, jsonLines } from "./cli.ts";

group("looking and holding", async (behaviour) => {
  await using good = startSink();
  await using bad = startSink({ status: 404 });
  await using relay = await startRelay({
    endpoints: [
      endpoint("good", good, { showPayload: true }),
      endpoint("bad", bad),
      endpoint("held", good),
    ],
  });
  const body = random(5_000);
  const first = await accept(relay, "good", { body, headers: { "idempotency-key": "evt-1" } });
  const rejected = await accept(relay, "bad");
  await reached(relay, first.deliveryId, "delivered");
  await reached(relay, rejected.deliveryId, "dead");

  await behaviour("status shows every lane, the counts and the version", async () => {
    const { code, stdout } = await cli(relay, ["status"]);
    assert.equal(code, 0);
    assert.match(stdout, /^holdfast \d+\.\d+\.\d+/);
    assert.match(stdout, /1 dead/);
    for (const id of ["good", "bad", "held"]) assert.match(stdout, new RegExp(`^${id} `, "m"));
  });

  await behaviour("status as JSON is the API's answer on one line", async () => {
    const [status] = jsonLines((await cli(relay, ["status", "--json"])).stdout);
    assert.deepEqual(Object.keys(status).sort(), [
      ...["at", "conditions", "counts", "lanes", "scheduler", "version"],
    ]);
  });

  await behaviour("endpoints are listed, or shown one by one", async () => {
    const all = jsonLines((await cli(relay, ["endpoints", "--json"])).stdout);
    assert.deepEqual(all.map(({ id }) => id), ["good", "bad", "held"]);
    const { stdout } = await cli(relay, ["endpoints", "good"]);
    assert.match(stdout, /^state +ok$/m);
    assert.match(stdout, /^targetUrl +http:\/\/127\.0\.0\.1:\d+$/m);
  });

  await behaviour("pause and resume hold a lane and let it go on", async () => {
    assert.match((await cli(relay, ["pause", "held"])).stdout, /held +paused/);
    const { deliveryId } = await accept(relay, "held");
    assert.match((await cli(relay, ["status"])).stdout, /^held +paused +1 /m);
    assert.match((await cli(relay, ["resume", "held"])).stdout, /held +ok/);
    await reached(relay, deliveryId, "delivered");
  });

  await behaviour("disable and enable do so too", async () => {
    assert.match((await cli(relay, ["disable", "held"])).stdout, /held +disabled/);
    assert.match((await cli(relay, ["enable", "held"])).stdout, /held +ok/);
  });

  await behaviour("a test event's answer decides how the command ends", async () => {
    const well = await cli(relay, ["test", "good"]);
    assert.deepEqual([well.code, /^200 after/.test(well.stdout)], [0, true], well.stderr);
    const badly = await cli(relay, ["test", "bad"]);
    assert.deepEqual([badly.code, /^404 after/.test(badly.stdout)], [1, true], badly.stderr);
  });

  await behaviour("deliveries are filtered by what the options say", async () => {
    const ids = async (...args: string[]) =>
      jsonLines((await cli(relay, ["deliveries", "--json", ...args])).stdout).map(({ id }) => id);
    assert.deepEqual(await ids("--endpoint", "good"), [first.deliveryId]);
    assert.deepEqual(await ids("--state", "dead", "--reason", "rejected"), [rejected.deliveryId]);
    assert.deepEqual(await ids("--event-id", "evt-1"), [first.deliveryId]);
    assert.deepEqual(await ids("--endpoint", "good", "--until", "1h"), []);
    assert.deepEqual(await ids("--endpoint", "good", "--since", "1h"), [first.deliveryId]);
  });

  await behaviour("an empty list says so to a person and nothing to a program", async () => {
    const args = ["deliveries", "--state", "in_flight"];
    assert.equal((await cli(relay, args)).stdout, "none\n");
    assert.equal((await cli(relay, [...args, "--json"])).stdout, "");
  });

  await behaviour("dead letters have a list of their own", async () => {
    const { stdout } = await cli(relay, ["dead", "bad"]);
    assert.match(stdout, new RegExp(`^${rejected.deliveryId} +dead +bad .* 404 rejected$`, "m"));
  });

  await behaviour("a delivery is shown with its attempts", async () => {
    const { stdout } = await cli(relay, ["show", rejected.deliveryId]);
    assert.match(stdout, /^state +dead$/m);
    assert.match(stdout, /^1 +\S+Z +404 +\d+ ms +dead$/m);
  });

  await behaviour("a payload comes out byte for byte, into a pipe or a file", async () => {
    const piped = await cli(relay, ["payload", first.deliveryId]);
    assert.deepEqual(new Uint8Array(piped.bytes), new Uint8Array(body));
    const path = Deno.makeTempFileSync();
    assert.equal((await cli(relay, ["payload", first.deliveryId, "-o", path])).code, 0);
    assert.deepEqual(new Uint8Array(Deno.readFileSync(path)), new Uint8Array(body));
    Deno.removeSync(path);
  });

  await behaviour("a hidden payload ends with 1", async () => {
    const { code, stdout, stderr } = await cli(relay, ["payload", rejected.deliveryId]);
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.match(stderr, /payload_hidden/);
  });
});

group("sending", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });

  await behaviour("a file reaches the target as it is, with its headers and path", async () => {
    const file = Deno.makeTempFileSync({ suffix: ".json" });
    Deno.writeTextFileSync(file, '{"a": 1}');
    const args = ["send", "demo", file, "-H", "x-event: push", "--path", "/rest?q=%2F"];
    const [told] = jsonLines((await cli(relay, [...args, "--json"])).stdout);
    Deno.removeSync(file);
    assert.equal(told.status, "accepted");
    const request = await until(() => sink.requests[0], { what: "the request at the target" });
    assert.equal(request.text, '{"a": 1}');
    assert.equal(request.header("x-event"), "push");
    assert.equal(request.header("content-type"), "application/json");
    assert.match(request.target, /\/rest\?q=%2F$/);
  });

  await behaviour(
    "standard input will do, and an event id makes a repeat a duplicate",
    async () => {
      const send = () => cli(relay, ["send", "demo", "--event-id", "e1"], { input: "{}" });
      assert.match((await send()).stdout, /^accepted \w{26} \(event e1\)$/m);
      assert.match((await send()).stdout, /^duplicate \w{26} \(event e1\)$/m);
    },
  );
});

group("replaying", async (behaviour) => {
  await using sink = startSink({ status: 404 });
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  const dead: string[] = [];
  for (let n = 0; n < 12; n++) dead.push((await accept(relay, "demo")).deliveryId);
  for (const id of dead) await reached(relay, id, "dead");
  sink.script = { status: 200 };
  const [one, ...others] = dead;

  await behaviour("one id is sent again", async () => {
    const { code, stdout } = await cli(relay, ["replay", one]);
    assert.deepEqual([code, stdout.startsWith(one)], [0, true]);
    await reached(relay, one, "delivered");
  });

  await behaviour("a refused id ends with 1, and the others are sent", async () => {
    const { code, stderr } = await cli(relay, ["replay", "01JZ3V7Q0W2M5X8R4T6Y9B1C3D", others[0]]);
    assert.equal(code, 1);
    assert.match(stderr, /01JZ3V7Q0W2M5X8R4T6Y9B1C3D: .*unknown_delivery/);
    await reached(relay, others[0], "delivered");
  });

  await behaviour("a dry run counts and sends nothing", async () => {
    const args = ["replay", "--endpoint", "demo", "--since", "1h", "--dry-run", "--json"];
    const [found] = jsonLines((await cli(relay, args)).stdout);
    assert.equal(found.count, 10);
    assert.equal((await delivery(relay, others[1])).state, "dead");
  });

  await behaviour("all that fits is sent, and the command waits for the end", async () => {
    const args = ["replay", "--endpoint", "demo", "--since", "1h"];
    const { code, stdout, stderr } = await cli(relay, args);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^job \w+ done: 10 of 10$/m);
    assert.equal(stderr, "", "no bar where there is no terminal");
    for (const id of others) await reached(relay, id, "delivered");
  });
});

test("a list goes on over the API's pages", async () => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  const count = 510;
  const send = async () => (await accept(relay, "demo")).deliveryId;
  const sent: string[] = [];
  while (sent.length < count) sent.push(...await Promise.all(Array.from({ length: 10 }, send)));
  const { stdout } = await cli(relay, ["deliveries", "--limit", "505", "--json"]);
  const ids = jsonLines(stdout).map(({ id }) => id);
  assert.deepEqual(ids, sent.sort().reverse().slice(0, 505));
});
