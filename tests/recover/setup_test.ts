import assert from "node:assert/strict";
import { test } from "../helpers/group.ts";
import { INTERVAL_MS, M, Scene } from "./harness.ts";

const EVENTS = { events: ["push", "issues"] };

const refuse = (status: number, headers: Record<string, string> = {}) => () =>
  new Response("{}", { status, headers: { "content-type": "application/json", ...headers } });

test("a hook that is set up as it should be is reported as ok", async () => {
  await using scene = await Scene.start();
  const { row: { health } } = await scene.view();
  assert.deepEqual(health.drifts, []);
  assert.equal(health.checkedAtMs, scene.clock.nowMs());
});

test("what differs is found within a quarter of an hour, told, and over once it is right", async () => {
  await using scene = await Scene.start(EVENTS);
  scene.github.hook.events = ["push", "issues"];
  await scene.live(15 * M);
  assert.deepEqual(await scene.conditions("app_config_drift"), []);
  scene.github.hook.events = ["push"];
  scene.github.hook.active = false;
  scene.github.hook.secret = undefined;
  scene.github.hook.contentType = "form";
  await scene.live(15 * M);
  const [drift] = await scene.conditions("app_config_drift");
  assert.equal(drift.count, 4);
  for (const words of [/issues is not subscribed/, /no secret/, /content type is form/, /off/]) {
    assert.match(drift.detail, words);
  }
  Object.assign(scene.github.hook, {
    events: ["*"],
    active: true,
    secret: "s",
    contentType: "json",
  });
  await scene.live(15 * M);
  assert.deepEqual(await scene.conditions("app_config_drift"), []);
});

test("a check that is held back keeps the last verdict with the time it was made", async () => {
  await using scene = await Scene.start(EVENTS);
  const { row: { health: before } } = await scene.view();
  assert.equal(before.drifts.length, 2);
  scene.github.hook.events = ["push", "issues"];
  scene.github.fault = refuse(503);
  await scene.live(30 * M);
  const { row: { health: after } } = await scene.view();
  assert.deepEqual([after.drifts, after.checkedAtMs], [before.drifts, before.checkedAtMs]);
  scene.github.fault = () => undefined;
  await scene.live(INTERVAL_MS);
  assert.deepEqual((await scene.view()).row.health.drifts, []);
});

test("a hook that has never been seen is unchecked, not ok", async () => {
  await using scene = await Scene.start();
  await scene.open(":memory:");
  scene.github.fault = refuse(429, { "retry-after": "600" });
  await scene.pass();
  assert.equal((await scene.view()).row.health.checkedAtMs, undefined);
});

test("a setup that may not be read is told", async () => {
  await using scene = await Scene.start();
  scene.github.fault = ({ path }) => path.includes("deliveries") ? undefined : refuse(403)();
  await scene.live(15 * M);
  const [drift] = await scene.conditions("app_config_drift");
  assert.match(drift.detail, /cannot be read: the credentials lack a permission/);
});

test("the watchdog only reads and asks for redelivery, it changes nothing at GitHub", async () => {
  await using scene = await Scene.start(EVENTS);
  scene.clock.move(M);
  await scene.github.deliver("fail");
  await scene.live(30 * M);
  const writes = scene.github.calls.filter(({ method }) => method !== "GET");
  assert.deepEqual(writes.map(({ path }) => path.replace(/\d{10,}/, "ID")), [
    "/repos/octo/repo/hooks/1/deliveries/ID/attempts",
  ]);
});
