import assert from "node:assert/strict";
import { attemptUrl, escapesTarget } from "../../lib/decide/target_url.ts";

const T = "http://127.0.0.1:9000";
const ALL = { forwardPath: true, forwardQuery: true };

const TABLE: [target: string, path: string, query: string, expected: string][] = [
  [`${T}/in`, "", "", "/in"],
  [`${T}/in`, "/", "", "/in/"],
  [`${T}/in`, "/a/b", "", "/in/a/b"],
  [`${T}/in/`, "/a", "", "/in/a"],
  [`${T}/in/`, "", "", "/in/"],
  [T, "", "", "/"],
  [T, "/a", "", "/a"],
  [`${T}/in`, "/a%2Fb/c%20d", "", "/in/a%2Fb/c%20d"],
  [`${T}/in`, "/a%2Fb/../x", "", "/in/a%2Fb/../x"],
  [`${T}/in`, "", "b=1&a=2&b=3&c=%2F+%20&d&e=&&f=%e9", "/in?b=1&a=2&b=3&c=%2F+%20&d&e=&&f=%e9"],
  [`${T}/x?option=app1&task=hook`, "", "q=1", "/x?option=app1&task=hook&q=1"],
  [`${T}/x?option=app1&task=hook`, "", "", "/x?option=app1&task=hook"],
  [`${T}/x?a=1#part`, "/y", "b=\xe9", "/x/y?a=1&b=\xe9"],
];

for (const [target, path, query, expected] of TABLE) {
  Deno.test(`attemptUrl() joins ${target} and ${path}?${query}`, () => {
    assert.deepEqual(attemptUrl(target, path, query, ALL), { origin: T, path: expected });
  });
}

Deno.test("attemptUrl() leaves out the rest of the path where it is not forwarded", () => {
  const url = attemptUrl(`${T}/in/`, "/a", "q", { forwardPath: false, forwardQuery: true });
  assert.equal(url.path, "/in/?q");
});

Deno.test("attemptUrl() leaves out the query where it is not forwarded", () => {
  const url = attemptUrl(`${T}/in?k=v`, "/a", "q", { forwardPath: true, forwardQuery: false });
  assert.equal(url.path, "/in/a?k=v");
});

Deno.test("attemptUrl() keeps the brackets of an IPv6 origin", () => {
  assert.equal(attemptUrl("http://[::1]:9000/in", "", "", ALL).origin, "http://[::1]:9000");
});

for (
  const rest of [
    ...["/..", "/../x", "/a/../../x", "/./../x", "//../x", "/a//../../x"],
    ...["/%2e%2e/x", "/.%2E/x", "/a/%2e./%2E%2e/x", "/..%2fx", "/..%5Cx", "/..\\x", "/..;a=1/x"],
    ...["/a%2Fb/../../x", "/a%2Fb/..\\..", "/a\\b/..%2f.."],
  ]
) {
  Deno.test(`escapesTarget() refuses ${rest}`, () => assert.equal(escapesTarget(rest), true));
}

for (
  const rest of ["", "/", "/a/b", "/a/../x", "/a%2Fb/../x", "/...", "/a..b/..c", "/.", "/a/b/../.."]
) {
  Deno.test(`escapesTarget() allows ${rest || "nothing"}`, () => {
    assert.equal(escapesTarget(rest), false);
  });
}
