import assert from "node:assert/strict";
import { breakerResult, troubleOf } from "../../lib/decide/github/answer.ts";
import { driftsOf, type SeenHook } from "../../lib/decide/github/drift.ts";
import { nextCursor, readHistory } from "../../lib/decide/github/history.ts";
import { permissionsFor } from "../../lib/decide/github/permissions.ts";
import { afterPage, freshProgress } from "../../lib/decide/github/scan.ts";
import { D, H, S } from "./harness.ts";

const NOW_MS = Date.UTC(2026, 4, 14, 9, 30);

Deno.test("readHistory() keeps ids that a double cannot hold", () => {
  const row = { id: 3804004623172239366n, guid: "g", delivered_at: "2026-05-14T09:00:00Z" };
  assert.equal(readHistory([row], 0)?.[0].id, "3804004623172239366");
});

Deno.test("readHistory() leaves out rows it cannot use and refuses what is no list", () => {
  assert.deepEqual(readHistory([null, {}, { id: 1, guid: "", delivered_at: "x" }], 0), []);
  assert.equal(readHistory({ message: "hello" }, 0), undefined);
});

const LINKS: [link: string | undefined, cursor: string | undefined][] = [
  [undefined, undefined],
  ['<https://api.test/d?cursor=v1_7>; rel="next"', "v1_7"],
  ['<https://api.test/d>; rel="first", <https://api.test/d?a=1&cursor=x%2By>; rel="next"', "x+y"],
  ['<https://api.test/d?cursor=v1_9>; rel="prev"', undefined],
  ["nonsense", undefined],
];

for (const [link, cursor] of LINKS) {
  Deno.test(`nextCursor() reads ${link}`, () => assert.equal(nextCursor(link), cursor));
}

Deno.test("afterPage() says which part of the history was gone before it could be read", () => {
  const progress = freshProgress(NOW_MS - 5 * D);
  const after = afterPage(progress, { topMs: NOW_MS }, [], undefined);
  assert.deepEqual(after.unseen, { fromMs: NOW_MS - 5 * D, untilMs: NOW_MS - 3 * D });
  assert.equal(after.watermarkMs, NOW_MS);
});

const answered = (status: number, headers: Record<string, string> = {}) => ({
  status,
  headers,
  data: {},
});

Deno.test("breakerResult() waits at least a second and at most an hour", () => {
  const wait = (retryAfter: string) => {
    const result = breakerResult(answered(429, { "retry-after": retryAfter }), NOW_MS);
    return "status" in result ? (result.retryAtMs ?? 0) - NOW_MS : undefined;
  };
  assert.equal(wait("1"), S);
  assert.equal(wait("3600"), H);
  assert.equal(wait("99999"), H);
});

Deno.test("breakerResult() prefers retry-after to the limit's reset", () => {
  const reset = String(NOW_MS / S + 900);
  const headers = {
    "retry-after": "7",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": reset,
  };
  const result = breakerResult(answered(403, headers), NOW_MS);
  assert.deepEqual(result, { status: 429, retryAtMs: NOW_MS + 7 * S });
});

Deno.test("breakerResult() counts a limit's reset on GitHub's own clock", () => {
  const githubMs = NOW_MS - H;
  const headers = {
    date: new Date(githubMs).toUTCString(),
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": String(githubMs / S + 90),
  };
  const result = breakerResult(answered(403, headers), NOW_MS);
  assert.deepEqual(result, { status: 429, retryAtMs: NOW_MS + 90 * S });
});

const TROUBLES: [status: number, kind: string | undefined][] = [
  [200, undefined],
  [202, undefined],
  [401, "credentials"],
  [403, "permission"],
  [404, "not_found"],
  [422, "unexpected"],
  [429, "rate_limit"],
  [500, "outage"],
  [503, "outage"],
];

for (const [status, kind] of TROUBLES) {
  Deno.test(`troubleOf() takes ${status} for ${kind ?? "no trouble"}`, () => {
    assert.equal(troubleOf(answered(status))?.kind, kind);
  });
}

const GOOD: SeenHook = {
  events: ["push", "pull_request"],
  permissions: { contents: "read", pull_requests: "write", metadata: "read" },
  url: "https://relay.test/hook/gh",
  contentType: "json",
  hasSecret: true,
  active: true,
};
const EXPECTED = {
  endpoint: "gh",
  publicUrl: "https://relay.test",
  events: ["push", "pull_request", "installation"],
};

const DRIFTS: [name: string, seen: Partial<SeenHook>, drifts: string[]][] = [
  ["nothing", {}, []],
  ["an event", { events: ["push"] }, ["missing_event"]],
  [
    "an event and its permission",
    { events: ["push"], permissions: { contents: "read" } },
    ["missing_event", "missing_permission"],
  ],
  ["another host", { url: "https://old.test/hook/gh" }, ["delivery_url"]],
  ["another endpoint", { url: "https://relay.test/hook/ghost" }, ["delivery_url"]],
  ["no URL", { url: undefined }, ["delivery_url"]],
  ["a longer path", { url: "https://relay.test/hook/gh/x" }, []],
  ["forms", { contentType: "form" }, ["content_type"]],
  ["no secret", { hasSecret: false }, ["secret_missing"]],
];

for (const [name, seen, kinds] of DRIFTS) {
  Deno.test(`driftsOf() finds ${kinds.join(", ") || "nothing"} for ${name}`, () => {
    const drifts = driftsOf(EXPECTED, { ...GOOD, ...seen });
    assert.deepEqual(drifts.map(({ kind }) => kind), kinds);
  });
}

Deno.test("driftsOf() does not show the query of a delivery URL", () => {
  const drifts = driftsOf(EXPECTED, { ...GOOD, url: "https://old.test/in?token=s3cr3t" });
  assert(!JSON.stringify(drifts).includes("s3cr3t"));
});

Deno.test("permissionsFor() knows what lets an App subscribe", () => {
  assert.deepEqual(permissionsFor("workflow_job"), ["actions"]);
  assert.deepEqual(permissionsFor("milestone"), ["issues", "pull_requests"]);
  assert.deepEqual(permissionsFor("something_new"), []);
});
