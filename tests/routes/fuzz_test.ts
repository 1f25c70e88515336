import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { test } from "../helpers/group.ts";
import { allDeliveries } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import {
  Contract,
  type Document,
  type Operation,
  type Parameter,
  readDocument,
  type Schema,
} from "./contract.ts";

const RUNS = 1_500;
/** Fixed, so that a failure is the same on every machine; any other must pass as well. */
const SEED = 20_261_130;

interface Shot {
  method: string;
  path: string;
  url: string;
  body?: string;
}

/** Values that parsers, keys and stores trip over. */
const ODD = ["", " ", "0", "-1", "1e9", "null", "true", "[]", "{}", "%", "../..", "a/b", "\u0000"];
const ODDER = [
  "__proto__",
  "constructor",
  "é\u{1F600}",
  "\ud800",
  "A".repeat(3_000),
  "'\"<>&;\r\n",
];

const oddText = fc.oneof(
  fc.constantFrom(...ODD, ...ODDER),
  fc.string({ unit: "binary", maxLength: 40 }),
);

/** What a schema allows, mixed with what it does not. */
function valueFor(schema: Schema, known: readonly string[]): fc.Arbitrary<string> {
  if (schema.enum !== undefined) {
    return fc.oneof(fc.constantFrom(...schema.enum.map(String)), oddText);
  }
  if (schema.format === "date-time") return fc.oneof(instant, oddText);
  if (schema.type === "integer") return fc.oneof(fc.integer().map(String), oddText);
  return fc.oneof(fc.constantFrom(...known), oddText);
}

const instant = fc.date({ noInvalidDate: true }).map((date) => date.toISOString());

const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

function urlOf(path: string, parameters: readonly Parameter[], known: readonly string[]) {
  const inPath = parameters.filter((one) => one.in === "path");
  const inQuery = parameters.filter((one) => one.in === "query");
  const values = fc.tuple(...inPath.map((one) => valueFor(one.schema, known)));
  const queries = fc.record(
    Object.fromEntries(inQuery.map((one) => [one.name, valueFor(one.schema, known)])),
    { requiredKeys: [] },
  );
  const stray = fc.option(fc.tuple(oddText, oddText), { freq: 6, nil: undefined });
  return fc.tuple(values, queries, stray).map(([texts, query, extra]) => {
    const filled = inPath.reduce(
      (url, { name }, index) => url.replace(`{${name}}`, encoded(texts[index])),
      path,
    );
    const pairs = [...Object.entries(query), ...(extra === undefined ? [] : [extra])];
    const text = pairs.map(([name, value]) => `${encoded(name)}=${encoded(value ?? "")}`).join("&");
    return text === "" ? filled : `${filled}?${text}`;
  });
}

function bodyOf(operation: Operation, { components }: Document, known: readonly string[]) {
  const written = operation.requestBody?.content["application/json"].schema;
  if (written === undefined) return fc.constant(undefined);
  const schema = components.schemas[written.$ref?.split("/").at(-1) ?? ""] as Schema;
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    name,
    fc.oneof({ weight: 4, arbitrary: valueFor(field, known) }, fc.jsonValue()),
  ]);
  const shaped = fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  return fc.oneof(
    { weight: 4, arbitrary: shaped.map((value) => JSON.stringify(value)) },
    fc.json(),
    oddText,
  );
}

function shotsFor(document: Document, known: readonly string[]): fc.Arbitrary<Shot> {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation }))
  );
  return fc.oneof(...operations.map(({ path, method, operation }) =>
    fc.record({
      method: fc.constant(method),
      path: fc.constant(path),
      url: urlOf(path, operation.parameters ?? [], known),
      body: bodyOf(operation, document, known),
    })
  ));
}

async function fire(relay: Relay, contract: Contract, shot: Shot): Promise<number> {
  const response = await relay.asOperator(shot.url, {
    method: shot.method.toUpperCase(),
    body: shot.body?.toWellFormed(),
  });
  const { status } = response;
  const type = response.headers.get("content-type") ?? "";
  const isStream = type.startsWith("text/event-stream");
  if (isStream) await response.body?.cancel();
  const body = isStream ? "" : await response.text();
  assert(status < 500, `${status} ${body}`);
  // An odd value may lead to another route, whose answers are not this one's.
  const same = new URL(response.url).pathname.split("/").length === shot.path.split("/").length;
  if (same && type.includes("json")) {
    contract.check(shot.method, shot.path, status, type, JSON.parse(body));
  }
  return status;
}

test(`${RUNS} requests made from the document get no 5xx and no undocumented answer`, async () => {
  await using sink = startSink((_, index) => ({ status: index % 3 === 0 ? 400 : 200 }));
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink, { showPayload: true }), endpoint("other", sink)],
  });
  for (let n = 0; n < 12; n++) await accept(relay, n % 2 === 0 ? "demo" : "other");
  const ids = (await allDeliveries(relay, "limit=50")).map(({ id }) => id);
  const document = await readDocument(relay);
  const contract = new Contract(document);
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(shotsFor(document, ["demo", "other", ...ids]), async (shot) => {
      const status = await fire(relay, contract, shot);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
  for (const status of [200, 202, 400, 404]) assert(statuses.has(status), `no ${status} was seen`);
  assert.doesNotMatch(relay.output, /request_failed/);
});
