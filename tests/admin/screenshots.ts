/**
 * `deno task screenshots`: runs the program with a few endpoints, one of them in trouble, and
 * photographs every page of the admin page into docs/images.
 */
import { endpoint } from "../helpers/endpoints.ts";
import { reached } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { freePort } from "../helpers/ports.ts";
import { ADMIN_TOKEN, type Relay, startRelay } from "../helpers/program.ts";
import { type Sink, startSink } from "../helpers/sink.ts";
import { buildIslands, openBrowser } from "./browser.ts";

const IMAGES = new URL("../../docs/images/", import.meta.url).pathname;
const SIZE = { width: 1080, height: 760 };
const NARROW = { width: 390, height: 760 };

/** An hour of traffic as the counters would have it, with a dip in which things died. */
async function writeHistory(kvPath: string): Promise<void> {
  const kv = await Deno.openKv(kvPath);
  const minute = Math.floor(Date.now() / 60_000);
  for (let ago = 1; ago < 1_440; ago++) {
    const wave = 40 + Math.round(18 * Math.sin(ago / 9) + 9 * Math.sin(ago / 2.3));
    const isDown = ago > 22 && ago < 31;
    const values = {
      accepted: wave,
      delivered: isDown ? 4 : ago > 17 && ago <= 22 ? wave + 45 : wave,
      dead: isDown ? 6 : 0,
    };
    const operation = kv.atomic();
    for (const [name, n] of Object.entries(values)) {
      operation.set(["stat", "github", minute - ago, name], new Deno.KvU64(BigInt(n)));
    }
    await operation.commit();
  }
  kv.close();
}

const EVENT = JSON.stringify({
  action: "completed",
  workflow_run: { id: 17482910465, name: "ci", head_branch: "main", conclusion: "success" },
  repository: { id: 98127346512, full_name: "octo/holdfast" },
});

async function writeTraffic(relay: Relay, sink: Sink): Promise<string> {
  const headers = (n: number) => ({
    "content-type": "application/json",
    "user-agent": "GitHub-Hookshot/044aadd",
    "x-github-event": "workflow_run",
    "x-github-delivery": `72d3162e-cc78-11e3-81ab-4c9367dc09${n}`,
  });
  sink.script = (_, index) => ({ status: index < 2 ? 503 : 200 });
  const first = await accept(relay, "github", { body: EVENT, headers: headers(10) });
  await reached(relay, first.deliveryId, "delivered");
  for (let n = 11; n < 18; n++) {
    await accept(relay, "github", { body: `${EVENT} ${n}`, headers: headers(n) });
  }
  for (let n = 0; n < 3; n++) {
    await accept(relay, "stripe", { headers: { "x-event-id": `evt_1Qx8TtGk${n}` } });
  }
  let dead = "";
  for (let n = 0; n < 4; n++) {
    dead =
      (await accept(relay, "legacy", { headers: { "x-event-id": `order-90${n}` } })).deliveryId;
  }
  await reached(relay, dead, "dead");
  return first.deliveryId;
}

const folder = Deno.makeTempDirSync();
const kvPath = `${folder}/relay.db`;
await buildIslands();
await writeHistory(kvPath);
await using sink = startSink();
const down = `http://127.0.0.1:${freePort()}`;
await using relay = await startRelay({
  kvPath,
  endpoints: [
    endpoint("github", sink, { showPayload: true, idHeaders: ["x-github-delivery"] }),
    endpoint("stripe", down, {
      breaker: { failures: 3, open: "5m", cap: "5m" },
      retry: { schedule: ["1m"] },
    }),
    endpoint("legacy", down),
  ],
});
const id = await writeTraffic(relay, sink);
const browser = await openBrowser();
const page = await browser.newPage({ viewport: SIZE, colorScheme: "light" });

async function photograph(name: string, path: string): Promise<void> {
  await page.goto(relay.origin + path);
  await page.waitForTimeout(600);
  await page.screenshot({ path: `${IMAGES}${name}.png` });
}

await photograph("sign-in", "/admin/sign-in");
await page.fill("input[name=token]", ADMIN_TOKEN);
await page.click("button[type=submit]");
await page.waitForURL(/\/admin$/);
for (
  const [name, path] of [
    ["overview", "/admin"],
    ["deliveries", "/admin/deliveries"],
    ["delivery", `/admin/deliveries/${id}`],
    ["dead-letters", "/admin/dead-letters"],
    ["replay", "/admin/replays/new?endpoint=legacy"],
    ["endpoints", "/admin/endpoints"],
    ["endpoint", "/admin/endpoints/github"],
  ]
) await photograph(name, path);
await page.emulateMedia({ colorScheme: "dark" });
await photograph("overview-dark", "/admin");
await page.setViewportSize(NARROW);
await photograph("overview-narrow", "/admin");
await browser.close();
await relay.kill("SIGTERM");
Deno.removeSync(folder, { recursive: true });
