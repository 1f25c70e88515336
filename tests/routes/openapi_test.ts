import assert from "node:assert/strict";
import { Validator } from "@seriousme/openapi-schema-validator";
import { group, test } from "../helpers/group.ts";
import { startRelay } from "../helpers/program.ts";
import { readDocument } from "./contract.ts";

const ROUTES = [
  "get /api/v1/status",
  "get /api/v1/endpoints",
  "get /api/v1/endpoints/{id}",
  "post /api/v1/endpoints/{id}/pause",
  "post /api/v1/endpoints/{id}/resume",
  "post /api/v1/endpoints/{id}/enable",
  "post /api/v1/endpoints/{id}/disable",
  "post /api/v1/endpoints/{id}/test",
  "get /api/v1/deliveries",
  "get /api/v1/deliveries/{id}",
  "get /api/v1/deliveries/{id}/payload",
  "post /api/v1/deliveries/{id}/replay",
  "post /api/v1/deliveries/{id}/cancel",
  "get /api/v1/dead-letters/{endpoint}",
  "post /api/v1/dead-letters/{endpoint}/{id}/replay",
  "get /dead-letters/{endpoint}",
  "post /dead-letters/{endpoint}/{id}/replay",
  "post /api/v1/replays",
  "get /api/v1/replays",
  "get /api/v1/replays/{id}",
  "post /api/v1/replays/{id}/cancel",
  "get /api/v1/events",
  "get /metrics",
  "get /readyz",
];

group("the API's document", async (behaviour) => {
  await using relay = await startRelay();
  const document = await readDocument(relay);

  await behaviour("is OpenAPI 3.1 by an independent validator's word", async () => {
    const specification: Record<string, unknown> = { ...document };
    const { valid, errors } = await new Validator().validate(specification);
    assert.deepEqual([valid, errors], [true, undefined]);
  });

  await behaviour("knows every route", () => {
    const known = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`)
    );
    for (const route of ROUTES) assert(known.includes(route), route);
    return Promise.resolve();
  });

  await behaviour("is shown as a page that asks nobody else for anything", async () => {
    const response = await fetch(`${relay.origin}/docs`);
    const page = await response.text();
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^text\/html/);
    assert.match(response.headers.get("content-security-policy") ?? "", /^default-src 'none'/);
    assert.doesNotMatch(page, /<script|<link|<img|@import|url\(|https?:\/\//);
    for (const path of Object.keys(document.paths)) assert(page.includes(path), path);
  });

  await behaviour("has a page whose links lead somewhere", async () => {
    const page = await (await fetch(`${relay.origin}/docs`)).text();
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) {
      assert(page.includes(`id="${target}"`), target);
    }
  });
});

test("without an admin token the document and its page are shut, like all the rest", async () => {
  await using relay = await startRelay({ env: { ADMIN_TOKEN: "" } });
  for (const path of ["/openapi.json", "/docs", "/api/v1/status", "/dead-letters/demo"]) {
    const response = await fetch(relay.origin + path);
    const { code } = await response.json();
    assert.deepEqual([response.status, code], [503, "admin_disabled"], path);
  }
});
