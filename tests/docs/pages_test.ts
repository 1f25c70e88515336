import assert from "node:assert/strict";
import { STATES } from "../../lib/states.ts";
import { fencedBlocks, PAGES, read } from "./pages.ts";

/** The text without its code, where links and headings mean something. */
const prose = (text: string) => text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "");

/** The name GitHub gives a heading, for links into a page. */
const slug = (heading: string) =>
  heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").trim().replaceAll(" ", "-");

function anchors(path: string): Set<string> {
  const text = read(path).replace(/^```[\s\S]*?^```/gm, "");
  return new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => slug(heading)));
}

function exists(path: string): boolean {
  try {
    Deno.statSync(new URL(`../../${path}`, import.meta.url));
    return true;
  } catch {
    return false;
  }
}

function brokenLinks(page: string): string[] {
  const links = [...prose(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link);
  return links.filter((link) => !/^[a-z]+:/.test(link)).filter((link) => {
    const [file, anchor] = link.split("#");
    const path = file === "" ? page : new URL(file, `file:///${page}`).pathname.slice(1);
    if (!exists(path)) return true;
    return anchor !== undefined && path.endsWith(".md") && !anchors(path).has(anchor);
  });
}

Deno.test("every link between pages leads somewhere", () => {
  const broken = PAGES.flatMap((page) => brokenLinks(page).map((link) => `${page}: ${link}`));
  assert.deepEqual(broken, []);
});

Deno.test("every fenced block of a page is closed", () => {
  for (const page of PAGES) {
    const fences = [...read(page).matchAll(/^```/gm)].length;
    assert.equal(fences % 2, 0, page);
  }
});

Deno.test("the page on a delivery's life has exactly the transitions of the program", () => {
  const rows = [...read("docs/life-of-a-delivery.md").matchAll(/^\| `(\w+)` \| `(\w+)` \|/gm)];
  const told = new Set(rows.map(([, from, to]) => `${from} ${to}`));
  const real = Object.entries(STATES).flatMap(([from, { next }]) =>
    next.map((to) => `${from} ${to}`)
  );
  assert.deepEqual([...told].toSorted(), real.toSorted());
});

Deno.test("the page on operating has every condition, reason and failure code", () => {
  const page = read("docs/operating.md");
  const union = (path: string, name: string) => {
    const source = new RegExp(`type ${name} =([^;]+);`).exec(read(path))?.[1] ?? "";
    return [...source.matchAll(/"(\w+)"/g)].map(([, member]) => member);
  };
  const words = [
    ...union("lib/decide/conditions.ts", "ConditionType"),
    ...union("lib/model.ts", "DeadReason"),
    ...union("lib/model.ts", "FailureCode"),
  ];
  assert(words.length > 25, "the unions were not found");
  assert.deepEqual(words.filter((word) => !page.includes(`\`${word}\``)), []);
});

Deno.test("blocks of JSON can be read as JSON", () => {
  const blocks = PAGES.flatMap((page) =>
    fencedBlocks(page, "json").map((text) => ({ page, text }))
  );
  for (const { page, text } of blocks) {
    const values = /^\s*"/.test(text) ? text.trim().split("\n").map((line) => `{${line}}`) : [text];
    for (const value of values) {
      assert.doesNotThrow(() => JSON.parse(value), `${page}: ${value}`);
    }
  }
});
