import assert from "node:assert/strict";
import { classify } from "../../lib/decide/classify.ts";

const label = (status: number, retryStatuses: number[] = []) => {
  const verdict = classify({ status }, retryStatuses);
  return verdict.outcome === "dead" ? verdict.reason : verdict.outcome;
};

const TABLE: [string, number[]][] = [
  ["delivered", [200, 201, 202, 204, 205, 206, 299]],
  ["redirect", [300, 301, 302, 304, 307, 308, 399]],
  ["retry", [408, 425, 429, 500, 501, 502, 503, 504, 599]],
  ["rejected", [400, 401, 403, 404, 409, 410, 413, 422, 499]],
  ["retry", [0, 100, 101, 199, 600, 999]],
];

for (const [expected, statuses] of TABLE) {
  Deno.test(`classify() calls ${statuses.join(", ")} ${expected}`, () => {
    assert.deepEqual(statuses.map((status) => label(status)), statuses.map(() => expected));
  });
}

Deno.test("classify() retries what the endpoint lists, redirects too", () => {
  assert.deepEqual([label(404, [404]), label(302, [302])], ["retry", "retry"]);
});

Deno.test("classify() keeps 410 permanent beside a listed 404", () => {
  assert.equal(label(410, [404]), "rejected");
});

Deno.test("classify() takes a 2xx as a yes even where it is listed", () => {
  assert.equal(label(204, [204]), "delivered");
});

Deno.test("classify() retries every transport failure", () => {
  for (const code of ["timeout", "dns", "tls", "blocked_address", "protocol"] as const) {
    assert.deepEqual(classify({ code }, []), { outcome: "retry" });
  }
});
