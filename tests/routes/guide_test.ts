import assert from "node:assert/strict";
import { axeFaults } from "../admin/axe.ts";
import { type Browser, HAS_CHROMIUM, openBrowser } from "../admin/browser.ts";
import { group } from "../helpers/group.ts";
import { type Relay, startRelay } from "../helpers/program.ts";

const GUIDE = "/docs/guide";
const NAMES = [...Deno.readDirSync(new URL("../../docs/", import.meta.url))].map(({ name }) => name)
  .filter((name) => name.endsWith(".md") && name !== "README.md").map((name) => name.slice(0, -3));
const PATHS = [GUIDE, ...NAMES.map((name) => `${GUIDE}/${name}`)];

/** Pages with everything that pages are made of; axe takes a second for each. */
const JUDGED = new Set(
  ["", "/configuration", "/life-of-a-delivery", "/admin"].map((path) => GUIDE + path),
);

async function page(relay: Relay, path: string): Promise<string> {
  const response = await fetch(relay.origin + path);
  const text = await response.text();
  assert.equal(response.status, 200, `${path}: ${text}`);
  return text;
}

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, one]) => one);

group("the guide", async (behaviour) => {
  await using relay = await startRelay({ env: { ADMIN_TOKEN: "" } });

  await behaviour("its first page names every page", async () => {
    const named = new Set(all(await page(relay, GUIDE), /href="([^"#]+)"/g));
    assert.deepEqual(NAMES.filter((name) => !named.has(`${GUIDE}/${name}`)), []);
  });

  await behaviour("every link and image of every page leads somewhere", async () => {
    const pages = new Map<string, string>();
    for (const path of PATHS) pages.set(path, await page(relay, path));
    const broken: string[] = [];
    for (const [path, text] of pages) {
      for (const link of all(text, /(?:href|src)="([/#][^"]*)"/g)) {
        const [file, anchor] = link.split("#");
        const target = file === "" ? text : pages.get(file);
        const isThere = target === undefined
          ? (await fetch(relay.origin + file, { method: "HEAD" })).ok
          : anchor === undefined || target.includes(` id="${anchor}"`);
        if (!isThere) broken.push(`${path}: ${link}`);
      }
    }
    assert.deepEqual(broken, []);
  });

  await behaviour("loads no script and nothing from elsewhere", async () => {
    const response = await fetch(relay.origin + GUIDE);
    await response.body?.cancel();
    const policy = response.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; style-src 'self'; img-src 'self';/);
    for (const path of PATHS) {
      assert.doesNotMatch(await page(relay, path), /<script|<iframe| on\w+=/);
    }
  });

  await behaviour("what is not served is named as a file of the sources", async () => {
    const text = await page(relay, `${GUIDE}/deploying`);
    assert.match(text, /start\s+<code>deploy\/holdfast\.service<\/code> in the sources/);
    assert.match(text, /changelog \(<code>CHANGELOG\.md<\/code> in the sources\)/);
  });

  await behaviour("is sent again only when it has changed", async () => {
    const first = await fetch(relay.origin + GUIDE);
    await first.body?.cancel();
    const etag = first.headers.get("etag") ?? "";
    const again = await fetch(relay.origin + GUIDE, { headers: { "if-none-match": etag } });
    assert.deepEqual([again.status, await again.text()], [304, ""]);
  });

  const outside = [
    "nonsense",
    "..%2Fmain",
    "..%2f..%2fetc%2fpasswd",
    "images/..%2fapi.md",
    "static/x",
  ];
  for (const name of outside) {
    await behaviour(`nothing else is read: ${name}`, async () => {
      const response = await fetch(`${relay.origin}${GUIDE}/${name}`);
      await response.body?.cancel();
      assert.equal(response.status, 404);
      assert.equal(response.headers.get("content-type"), "application/problem+json");
    });
  }
});

Deno.test({
  name: "everybody can read the guide: axe finds nothing, and no page is wider than a phone",
  ignore: !HAS_CHROMIUM,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await using relay = await startRelay();
    const browser = await openBrowser();
    try {
      for (const width of [1280, 390]) await lookThrough(relay, browser, width);
    } finally {
      await browser.close();
    }
  },
});

async function lookThrough(relay: Relay, browser: Browser, width: number): Promise<void> {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  const tab = await context.newPage();
  const faults: string[] = [];
  for (const path of PATHS) {
    await tab.goto(relay.origin + path);
    if (JUDGED.has(path)) {
      faults.push(...(await axeFaults(tab)).map((fault) => `${path}: ${fault}`));
    }
    const wide = await tab.evaluate<number>("document.documentElement.scrollWidth");
    if (wide > width) faults.push(`${path} is ${wide} wide at ${width}`);
  }
  await context.close();
  assert.deepEqual(faults, []);
}
