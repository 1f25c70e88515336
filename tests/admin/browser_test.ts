import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { delivery, reached } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { freePort } from "../helpers/ports.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { type Sink, startSink } from "../helpers/sink.ts";
import { axeFaults } from "./axe.ts";
import {
  type Browser,
  type BrowserContext,
  buildIslands,
  HAS_CHROMIUM,
  openBrowser,
  type Page,
} from "./browser.ts";
import { OidcStandIn } from "./oidc_stand_in.ts";

interface Stage {
  browser: Browser;
  relay: Relay;
  sink: Sink;
}

const CLIENT = { clientId: "holdfast", clientSecret: "secret-of-the-client" };

/** A relay that is signed in to at a provider, a target that can be down, and a browser. */
async function onStage(
  play: (stage: Stage, t: Deno.TestContext) => Promise<void>,
  t: Deno.TestContext,
) {
  await buildIslands();
  const port = freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const redirectUrl = `${publicUrl}/admin/oauth/callback`;
  await using provider = await OidcStandIn.start(freePort(), { ...CLIENT, redirectUrl });
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [
      endpoint("demo", sink, { showPayload: true }),
      endpoint("other", sink),
    ],
    env: {
      PORT: String(port),
      PUBLIC_URL: publicUrl,
      OAUTH_PROVIDER: "oidc",
      OAUTH_ISSUER: provider.issuer,
      OAUTH_CLIENT_ID: CLIENT.clientId,
      OAUTH_CLIENT_SECRET: CLIENT.clientSecret,
      ADMIN_USERS: "boss@example.com, fake-boss@example.com",
    },
  });
  const browser = await openBrowser();
  try {
    await play({ browser, relay, sink }, t);
  } finally {
    await browser.close();
  }
}

/** Goes through the provider's own form and consent. */
async function signIn(page: Page, relay: Relay, name: string): Promise<void> {
  await page.goto(`${relay.origin}/admin`);
  await page.click("text=Continue with single sign-on");
  await page.fill("input[name=login]", name);
  await page.fill("input[name=password]", "any");
  await page.click("button[type=submit]");
  await page.click("button[type=submit]");
  await page.waitForURL(`${relay.origin}/admin**`);
}

/** The driver keeps timers and pipes of its own beyond a step, so the sanitizers stay out. */
const DRIVEN = { ignore: !HAS_CHROMIUM, sanitizeOps: false, sanitizeResources: false };

Deno.test({
  name: "the admin page in a browser",
  ...DRIVEN,
  fn: (t) => onStage(play, t),
});

/** What the acts share: one signed-in page, and what it has complained of. */
interface Scene extends Stage {
  context: BrowserContext;
  page: Page;
  complaints: string[];
  at(path: string): Promise<unknown>;
  behaviour(name: string, fn: () => Promise<void>): Promise<boolean>;
}

async function play(stage: Stage, t: Deno.TestContext): Promise<void> {
  const context = await stage.browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    dialog.dismiss();
  });
  const scene: Scene = {
    ...stage,
    context,
    page,
    complaints,
    at: (path) => page.goto(stage.relay.origin + path),
    behaviour: (name, fn) => t.step({ name, fn, sanitizeOps: false, sanitizeResources: false }),
  };
  for (
    const act of [
      enter,
      watch,
      replayOne,
      replayMany,
      meetHostility,
      goWithoutScripts,
      inspect,
      leave,
    ]
  ) await act(scene);
  await context.close();
}

async function enter({ browser, context, page, relay, behaviour }: Scene): Promise<void> {
  for (const name of ["guest", "fake-boss"]) {
    await behaviour(`${name} is known to the provider and refused here`, async () => {
      const own = await browser.newContext();
      const theirs = await own.newPage();
      await signIn(theirs, relay, name);
      await theirs.getByText("ADMIN_USERS does not have this account").waitFor();
      await theirs.goto(`${relay.origin}/admin`);
      assert.match(theirs.url(), /\/admin\/sign-in$/);
      await own.close();
    });
  }

  await behaviour("an operator signs in through the provider", async () => {
    await signIn(page, relay, "boss");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByText("boss@example.com").waitFor();
  });

  await behaviour("the first page is under 100 KB with all it loads", async () => {
    let bytes = 0;
    const own = await browser.newContext({ storageState: await context.storageState() });
    const first = await own.newPage();
    const reading: Promise<void>[] = [];
    first.on("response", (response) => {
      if (response.url().endsWith("/events")) return;
      reading.push(response.body().then((body) => void (bytes += body.length), () => {}));
    });
    await first.goto(`${relay.origin}/admin`, { waitUntil: "load" });
    await first.getByRole("button", { name: "Live" }).waitFor();
    await Promise.all(reading);
    assert(bytes > 10_000 && bytes < 100_000, `${bytes} bytes`);
    await own.close();
  });
}

async function watch({ page, relay, at, behaviour }: Scene): Promise<void> {
  await behaviour("a delivery arrives before one's eyes", async () => {
    await at("/admin/deliveries");
    await page.getByRole("button", { name: "Live" }).waitFor();
    await accept(relay, "demo", { headers: { "x-event-id": "before-your-eyes" } });
    await page.getByRole("link", { name: "before-your-eyes" }).waitFor();
  });

  await behaviour("a paused list stays as it is", async () => {
    await page.getByRole("button", { name: "Live" }).click();
    await page.getByRole("button", { name: "Paused" }).waitFor();
    await accept(relay, "demo", { headers: { "x-event-id": "while-paused" } });
    assert.equal(await page.getByRole("link", { name: "while-paused" }).count(), 0);
    await page.getByRole("button", { name: "Paused" }).click();
    await page.getByRole("link", { name: "while-paused" }).waitFor();
  });

  await behaviour("a filter is kept in the address", async () => {
    await accept(relay, "other", { headers: { "x-event-id": "of-the-other" } });
    await at("/admin/deliveries");
    await page.getByLabel("Endpoint").selectOption("other");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/endpoint=other/);
    await page.getByRole("link", { name: "of-the-other" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "before-your-eyes" }).count(), 0);
  });

  await behaviour("the keys go from row to row", async () => {
    await at("/admin/deliveries");
    await page.locator("tbody th a").first().focus();
    await page.keyboard.press("j");
    const second = page.locator("tbody th a").nth(1);
    assert(await second.evaluate((link) => link === link.ownerDocument.activeElement));
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/admin\/deliveries\/0/);
  });
}

async function replayOne({ page, relay, sink, at, behaviour }: Scene): Promise<void> {
  await behaviour("a dead one is replayed and seen to be delivered", async () => {
    sink.script = { status: 400 };
    const { deliveryId } = await accept(relay, "demo");
    await reached(relay, deliveryId, "dead");
    sink.script = {};
    await at(`/admin/deliveries/${deliveryId}`);
    await page.getByText("dead: rejected").waitFor();
    await page.getByRole("button", { name: "Replay" }).click();
    await page.locator(".badge", { hasText: "delivered" }).first().waitFor();
    assert.equal((await delivery(relay, deliveryId)).state, "delivered");
  });
}

async function replayMany({ page, relay, sink, at, behaviour }: Scene): Promise<void> {
  await behaviour("many are replayed after a dry run, with progress", async () => {
    sink.script = { status: 400 };
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) ids.push((await accept(relay, "other")).deliveryId);
    for (const id of ids) await reached(relay, id, "dead");
    sink.script = {};
    await at("/admin/dead-letters");
    await page.getByRole("link", { name: "Replay all rejected of other" }).click();
    await page.getByRole("button", { name: "Replay 12" }).click();
    await page.getByRole("progressbar").waitFor();
    await page.getByRole("heading", { name: "Done" }).waitFor();
    await page.getByText("12 of 12 replayed").waitFor();
    for (const id of ids) await reached(relay, id, "delivered");
  });

  await behaviour("chosen ones are replayed at once", async () => {
    sink.script = { status: 400 };
    const { deliveryId } = await accept(relay, "other");
    await reached(relay, deliveryId, "dead");
    sink.script = {};
    await at("/admin/dead-letters");
    await page.getByLabel("Choose all on this page").check();
    await page.getByRole("button", { name: "Replay chosen" }).click();
    await page.getByText("1 of 1 are on their way").waitFor();
    await reached(relay, deliveryId, "delivered");
  });

  await behaviour("an endpoint is paused, tested and resumed", async () => {
    await at("/admin/endpoints/demo");
    await page.getByRole("button", { name: "Pause" }).click();
    await page.locator(".badge", { hasText: "paused" }).waitFor();
    await page.getByRole("button", { name: "Send test event" }).click();
    await page.getByText("answered 200").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
  });
}

async function meetHostility({ page, relay, complaints, at, behaviour }: Scene): Promise<void> {
  for (
    const [name, body] of [
      ["script", "</script><script>alert(1)</script><img src=x onerror=alert(1)>"],
      ["link", "javascript:alert(1)"],
      ["control characters", "\u001b[2J\u202e\u0007"],
      ["invalid UTF-8", new Uint8Array([0xc3, 0x28, 0xff, 0xfe])],
      ["5 MB", new Uint8Array(5_000_000).fill(0x41)],
      ["deep JSON", "[".repeat(30_000) + "]".repeat(30_000)],
    ] as const
  ) {
    await behaviour(`a payload of ${name} is shown inert`, async () => {
      const { deliveryId } = await accept(relay, "demo", {
        body,
        headers: {
          "content-type": "text/html",
          "x-event-id": `<img src=x onerror=alert(1)>${name}`,
        },
      });
      await at(`/admin/deliveries/${deliveryId}`);
      await page.getByRole("region", { name: "Payload" }).waitFor();
      assert.equal(await page.locator("main img, main script").count(), 0);
      await at("/admin/deliveries");
      await page.getByRole("button", { name: "Live" }).waitFor();
      assert.equal(await page.locator("main img, main script").count(), 0);
    });
  }

  await behaviour("nothing that a sender wrote has run", () => {
    assert.deepEqual(complaints, []);
    return Promise.resolve();
  });
}

async function goWithoutScripts({ browser, context, relay, behaviour }: Scene): Promise<void> {
  await behaviour("without JavaScript one reads and replays", async () => {
    const storageState = await context.storageState();
    const plain = await browser.newContext({ javaScriptEnabled: false, storageState });
    const reader = await plain.newPage();
    await reader.goto(`${relay.origin}/admin/deliveries?event_id=before-your-eyes`);
    await reader.getByRole("link", { name: "before-your-eyes" }).click();
    await reader.getByRole("button", { name: "Replay" }).click();
    await reader.getByText("Replays").waitFor();
    await plain.close();
  });
}

async function inspect({ page, relay, sink, at, behaviour }: Scene): Promise<void> {
  sink.script = { status: 400 };
  const { deliveryId } = await accept(relay, "other");
  await reached(relay, deliveryId, "dead");
  const paths = [
    "/admin",
    "/admin?span=day",
    "/admin/deliveries",
    "/admin/deliveries?state=pending",
    "/admin/deliveries?since=nonsense",
    `/admin/deliveries/${deliveryId}`,
    "/admin/deliveries/unknown",
    "/admin/dead-letters",
    "/admin/replays/new?endpoint=other",
    "/admin/endpoints",
    "/admin/endpoints/demo",
  ];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const path of paths) {
      await behaviour(
        `${path.replace(deliveryId, ":id")} has no fault for axe in the ${colorScheme}`,
        async () => {
          await at(path);
          assert.deepEqual(await axeFaults(page), []);
        },
      );
    }
  }

  await behaviour("on a narrow screen no page is wider than the screen", async () => {
    await page.setViewportSize({ width: 360, height: 700 });
    for (const path of paths) {
      await at(path);
      const width = await page.evaluate("document.documentElement.scrollWidth");
      assert.equal(width, 360, path);
    }
  });
}

async function leave({ page, at, behaviour }: Scene): Promise<void> {
  await behaviour("signing out ends the session", async () => {
    await at("/admin");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(/sign-in$/);
    assert.deepEqual(await axeFaults(page), []);
    await at("/admin/deliveries");
    assert.match(page.url(), /sign-in\?return=/);
  });
}
