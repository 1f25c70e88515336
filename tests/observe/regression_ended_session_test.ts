import assert from "node:assert/strict";
import { csrfOf, signedIn } from "../admin/jar.ts";
import { sideBySide } from "../helpers/group.ts";
import { accept } from "../helpers/post.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { pause, within } from "../helpers/wait.ts";
import { Listener } from "./listener.ts";

const test = sideBySide("streams of sessions");

test("a stream of a session ends soon after the sign-out; one by token goes on", async () => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  const jar = await signedIn(relay);
  await using bySession = await Listener.openBySession(relay, jar.cookie);
  await using byToken = await Listener.open(relay);
  const signedOut = await jar.post("/admin/sign-out", { csrf: await csrfOf(jar) });
  assert.equal(signedOut.status, 303);
  await within(bySession.ended, { withinMs: 20_000, what: "the end of the session's stream" });
  const { deliveryId } = await accept(relay, "demo");
  await byToken.settled(deliveryId);
  assert.equal(bySession.of("settled").length, 0);
});

test("a sign-out in one process ends the streams of another one", async () => {
  await using one = await startRelay();
  await using other = await startRelay({ kvPath: one.kvPath });
  const jar = await signedIn(one);
  await using listener = await Listener.openBySession(other, jar.cookie);
  await jar.post("/admin/sign-out", { csrf: await csrfOf(jar) });
  await within(listener.ended, { withinMs: 20_000, what: "the end of the session's stream" });
});

test("a session that goes on keeps its stream", async () => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  const jar = await signedIn(relay);
  await using listener = await Listener.openBySession(relay, jar.cookie);
  // Longer than two looks at the session: an end of it would have been noticed.
  await pause(11_000);
  const { deliveryId } = await accept(relay, "demo");
  await listener.settled(deliveryId);
});
