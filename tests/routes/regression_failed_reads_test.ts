import assert from "node:assert/strict";
import { csrfOf, type Jar, signedIn } from "../admin/jar.ts";
import { BrokenStore } from "../helpers/broken_store.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { reached } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

type Call = [method: string, path: string, init?: RequestInit];

const JSON_BODY = { body: `{"state":"dead"}`, headers: { "content-type": "application/json" } };

/** Every route of operators that asks the store; `ID` stands for a stored delivery. */
const API: Call[] = [
  ["GET", "/api/v1/status"],
  ["GET", "/api/v1/endpoints"],
  ["GET", "/api/v1/endpoints/demo"],
  ["GET", "/api/v1/endpoints/relay-0123456789abcdef01234567"],
  ...["pause", "resume", "enable", "disable"].map((act): Call => [
    "POST",
    `/api/v1/endpoints/demo/${act}`,
  ]),
  ["GET", "/api/v1/deliveries"],
  ["GET", "/api/v1/deliveries?endpoint=demo&state=pending"],
  ["GET", "/api/v1/deliveries?event_id=e1"],
  ["GET", "/api/v1/deliveries/ID"],
  ["GET", "/api/v1/deliveries/ID/payload"],
  ["POST", "/api/v1/deliveries/ID/replay"],
  ["POST", "/api/v1/deliveries/ID/cancel"],
  ["GET", "/api/v1/dead-letters/demo"],
  ["POST", "/api/v1/dead-letters/demo/ID/replay"],
  ["GET", "/dead-letters/demo"],
  ["POST", "/dead-letters/demo/ID/replay"],
  ["GET", "/api/v1/replays"],
  ["GET", "/api/v1/replays/ID"],
  ["POST", "/api/v1/replays", JSON_BODY],
  ["POST", "/api/v1/replays/ID/cancel"],
  ["GET", "/api/v1/events"],
];

/** What a browser with a session asks; the session itself is in the store. */
const PAGES: Call[] = [
  ["GET", "/admin"],
  ["GET", "/admin/series"],
  ["GET", "/admin/deliveries"],
  ["GET", "/admin/deliveries/ID"],
  ["POST", "/admin/deliveries/ID/replay"],
  ["GET", "/admin/dead-letters"],
  ["GET", "/admin/replays"],
  ["GET", "/admin/endpoints"],
  ["POST", "/admin/endpoints/demo/pause"],
  ["GET", "/admin/github"],
  ["POST", "/admin/sign-out"],
  ["GET", "/api/v1/status"],
  ["GET", "/metrics"],
];

/** Who asked for a change is to look whether it was made, and is not told to ask again soon. */
async function assertUnavailable(response: Response, method = "GET"): Promise<void> {
  const { code, status, detail } = await response.json();
  assert.deepEqual([response.status, code, status], [503, "store_unavailable", 503]);
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  assert.equal(response.headers.get("retry-after"), method === "GET" ? "5" : null);
  assert.match(detail, method === "GET" ? /^cannot (answer|store)/ : /look before asking again$/);
}

const askPage = (jar: Jar, csrf: string, method: string, path: string) =>
  method === "POST" ? jar.post(path, { csrf }) : jar.fetch(path);

async function answersAgain(relay: Relay): Promise<boolean> {
  const response = await relay.api("/deliveries");
  await response.body?.cancel();
  return response.ok;
}

group("a store that fails to be read is a 503, not a fault of the relay", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, { showPayload: true })],
    env: { RELAY_TARGETS: sink.url("/") },
  });
  const { deliveryId } = await accept(relay, "demo");
  await reached(relay, deliveryId, "delivered");
  const jar = await signedIn(relay);
  const csrf = await csrfOf(jar);
  const url = (path: string) => path.replace("ID", deliveryId);
  {
    using _ = new BrokenStore(relay.kvPath);
    for (const [method, path, init] of API) {
      await behaviour(`${method} ${path}`, async () => {
        await assertUnavailable(await relay.asOperator(url(path), { ...init, method }), method);
      });
    }
    for (const [method, path] of PAGES) {
      await behaviour(`${method} ${path} by session`, async () => {
        await assertUnavailable(await askPage(jar, csrf, method, url(path)), method);
      });
    }
    await behaviour("a post by relay mode", async () => {
      const to = encodeURIComponent(sink.url("/x"));
      await assertUnavailable(await fetch(`${relay.origin}/?to=${to}`, { method: "POST" }));
    });
    await behaviour("a post to a hook", async () => {
      await assertUnavailable(await fetch(`${relay.origin}/hook/demo`, { method: "POST" }));
    });
    await behaviour("readiness says so, and metrics still come with the token", async () => {
      const ready = await fetch(`${relay.origin}/readyz`);
      assert.deepEqual([ready.status, (await ready.json()).reason], [
        503,
        "store does not answer",
      ]);
      const metrics = await relay.asOperator("/metrics");
      assert.equal(metrics.status, 200);
      assert.match(await metrics.text(), /^holdfast_store_up 0$/m);
    });
  }
  await behaviour("all goes on when the store is back", async () => {
    await until(() => answersAgain(relay), { what: "the store to be read again" });
    const { conditions } = await (await relay.api("/status")).json();
    assert(conditions.some(({ type }: { type: string }) => type === "store_errors"));
    assert.doesNotMatch(relay.output, /request_failed/);
  });
});
