import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import { isId } from "../../lib/ids.ts";
import { readFilters } from "../../routes/admin/filters.tsx";
import { rawTarget, refuseAtDoor } from "../../routes/door.ts";
import { createGuide } from "../../routes/guide/guide.ts";
import { readPage, servedAt } from "../../routes/guide/contents.ts";
import { instant, listQuery, makeCursor } from "../../routes/operator/query.ts";
import { anyText, fieldValues, someOf, texts } from "../helpers/arbitrary.ts";

const ID = "01JVA8Z6N3Q4T5W6X7Y8Z9A0BC";
/** Beyond these a time is no `Date`, and no id can hold it. */
const LAST_MS = Date.parse("9999-12-31T23:59:59.999-23:59");

const written: Record<string, string> = {
  endpoint: "demo",
  state: "dead",
  reason: "exhausted",
  event_id: "evt_1",
  since: "2026-11-30T12:00:00Z",
  until: "2026-11-30",
  limit: "500",
  cursor: makeCursor(ID),
};

const query = someOf(written);

Deno.test("listQuery takes any parameters: filters within their bounds, or what is wrong", () => {
  const limit = texts("500", "501", "9999");
  const cursor = texts(makeCursor(ID), makeCursor("x"), btoa(`2:${ID}`));
  const one = fc.oneof(fc.record({ limit }), fc.record({ cursor }));
  fc.assert(fc.property(fc.oneof(query, one), (given) => {
    const parsed = listQuery.safeParse(given);
    if (!parsed.success) {
      return assert.ok(parsed.error.issues.every(({ path }) => path.length > 0));
    }
    const { limit, cursor, since = 0, until = 0 } = parsed.data;
    assert.ok(Number.isInteger(limit) && limit >= 1 && limit <= 500);
    assert.ok(cursor === undefined || isId(cursor));
    for (const ms of [since, until]) assert.ok(Math.abs(ms) <= LAST_MS);
  }));
});

Deno.test("instant reads every time as it is written in answers", () => {
  const time = fc.date({ min: new Date(0), max: new Date("9999-12-31T23:59:59.999Z") })
    .filter((date) => !Number.isNaN(date.getTime()));
  fc.assert(fc.property(time, (date) => {
    assert.equal(instant.parse(date.toISOString()), date.getTime());
  }));
});

Deno.test("a cursor survives its way through a client", () => {
  const id = fc.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  fc.assert(fc.property(id, (id) => {
    assert.equal(listQuery.parse({ cursor: makeCursor(id) }).cursor, id);
    const href = new URLSearchParams({ cursor: makeCursor(id) });
    assert.equal(listQuery.parse(Object.fromEntries(href)).cursor, id);
  }));
});

Deno.test("readFilters() takes any address of a page: filters, or a sentence on what is wrong", () => {
  const times = fc.record({
    since: texts("2026-11-30T12:00"),
    until: texts("2026-11-30T12:00:30"),
  });
  fc.assert(fc.property(fc.oneof(query, times), (given) => {
    const { query, fault } = readFilters(given);
    assert.equal(query === undefined, fault !== undefined);
    if (fault !== undefined) assert.match(fault, /^Cannot filter: [a-z_]+ [\s\S]+\.$/);
  }));
});

Deno.test("rawTarget() takes a URL apart and changes no character of it", () => {
  const target = fieldValues("/hook/demo/a%2fb?x=1&&y", "/?", "//x/?a?b")
    .map((text) => text.replaceAll("#", ""));
  fc.assert(fc.property(target, (text) => {
    const { path, query } = rawTarget(`http://h.example:80/${text}`);
    assert.ok(!path.includes("?") && path.startsWith("/"));
    const again = query === "" ? path : `${path}?${query}`;
    assert.ok([again, `${again}?`].includes(`/${text}`));
  }));
});

Deno.test("refuseAtDoor() takes any Host, and lets none pass that changes the URL's path", () => {
  fc.assert(fc.property(fieldValues("h.example:8000", "[::1]:80", "10.0.0.1"), (host) => {
    const request = new Request("http://h/x", { headers: [["host", host]] });
    if (request.headers.get("host") === "" || refuseAtDoor(request) !== undefined) return;
    const url = `http://${request.headers.get("host")}/x`;
    if (URL.canParse(url)) assert.equal(new URL(url).pathname, "/x");
  }));
});

Deno.test("readPage() and servedAt() lead nowhere outside of the guide, whatever is asked", async () => {
  const page = texts("configuration", "README", "../SECURITY", "images/overview.png");
  await fc.assert(
    fc.asyncProperty(page, async (name) => {
      const text = await readPage(name);
      if (text !== undefined) assert.match(name, /^[A-Za-z][a-z-]*$/i);
      const href = servedAt(name) ?? servedAt(`${name}.md`);
      if (href?.startsWith("/")) assert.match(href, /^\/docs\/guide(\/[A-Za-z./-]+(#[\s\S]*)?)?$/);
    }),
    { numRuns: 100 },
  );
});

for (const path of ["", "/images", "/static"]) {
  Deno.test(`regression: /docs/guide${path} has nothing by a name of 300 characters`, async () => {
    const response = await createGuide(false).request(`/docs/guide${path}/${"a".repeat(300)}.png`);
    assert.equal(response.status, 404);
    const page = await createGuide(false).request(`/docs/guide${path}/${"a".repeat(300)}`);
    assert.equal(page.status, 404);
  });
}

Deno.test("any event id can be asked for", () => {
  fc.assert(fc.property(anyText.filter((text) => text !== ""), (text) => {
    assert.equal(listQuery.parse({ event_id: text }).event_id, text);
  }));
});
