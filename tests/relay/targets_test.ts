import assert from "node:assert/strict";
import { isAllowedTarget, shownTarget } from "../../lib/decide/relay_targets.ts";
import { parseTargetPattern, type TargetPattern } from "../../lib/relay_settings.ts";

function patterns(...texts: string[]): TargetPattern[] {
  return texts.map((text) => {
    const pattern = parseTargetPattern(text);
    assert(typeof pattern !== "string", `${text} ${pattern}`);
    return pattern;
  });
}

const ALLOWED = patterns(
  "https://app.example.com",
  "https://*.hooks.example.com/in/*",
  "http://10.1.2.3:8080/hook",
  "https://bücher.example",
);

const TARGETS = [
  "https://app.example.com",
  "https://app.example.com/",
  "https://app.example.com?x=1",
  "https://app.example.com/any/path?token=a%20b&c=+d",
  "https://a.hooks.example.com/in/x",
  "https://a.b-c.hooks.example.com/in/",
  "http://10.1.2.3:8080/hook",
  "http://10.1.2.3:8080/hook/x",
  "https://xn--bcher-kva.example/x",
];

for (const target of TARGETS) {
  Deno.test(`${target} is allowed`, () => assert.equal(isAllowedTarget(target, ALLOWED), true));
}

const NEAR_MISSES: readonly [why: string, target: string][] = [
  ["not a URL", "app.example.com/x"],
  ["empty", ""],
  ["another scheme", "http://app.example.com/x"],
  ["a scheme that is none of HTTP's", "ftp://app.example.com/x"],
  ["no slashes", "https:app.example.com/x"],
  ["too many slashes", "https:///app.example.com/x"],
  ["a longer host", "https://app.example.com.evil.test/x"],
  ["a longer first label", "https://evilapp.example.com/x"],
  ["a host below an exact one", "https://a.app.example.com/x"],
  ["the parent", "https://example.com/x"],
  ["an upper-case host", "https://APP.example.com/x"],
  ["an upper-case scheme", "HTTPS://app.example.com/x"],
  ["a trailing dot", "https://app.example.com./x"],
  ["a user name", "https://user@app.example.com/x"],
  ["an empty user name", "https://@app.example.com/x"],
  ["a user name like the host", "https://app.example.com@evil.test/x"],
  ["a password like the host", "https://a:app.example.com@127.0.0.1/x"],
  ["an encoded at sign in the host", "https://app.example.com%40evil.test/x"],
  ["another port", "https://app.example.com:22/x"],
  ["the scheme's port spelled out", "https://app.example.com:443/x"],
  ["an empty port", "https://app.example.com:/x"],
  ["a backslash for the host's end", "https://evil.test\\@app.example.com/x"],
  ["a backslash in the path", "https://a.hooks.example.com/in\\x"],
  ["a fragment with the host", "https://evil.test/#app.example.com"],
  ["a fragment", "https://app.example.com/x#y"],
  ["the host in the query", "https://evil.test/?https://app.example.com/"],
  ["a look-alike letter", "https://аpp.example.com/x"],
  ["full-width letters", "https://ａｐｐ.example.com/x"],
  ["a soft hyphen", "https://app\u00ad.example.com/x"],
  ["an ideographic full stop", "https://app。example.com/x"],
  ["an IDN not in its ASCII form", "https://bücher.example/x"],
  ["an encoded letter in the host", "https://%61pp.example.com/x"],
  ["a tab in the host", "https://app.exa\tmple.com/x"],
  ["a line break in front", "\nhttps://app.example.com/x"],
  ["a blank behind", "https://app.example.com/x "],
  ["two targets", "https://app.example.com/x, https://app.example.com/y"],
  ["a zero byte", "https://app.example.com\0.evil.test/x"],
  ["the wildcard's own domain", "https://hooks.example.com/in/x"],
  ["a suffix without its dot", "https://evilhooks.example.com/in/x"],
  ["an empty label", "https://.hooks.example.com/in/x"],
  ["an empty label within", "https://a..hooks.example.com/in/x"],
  ["a star for a label", "https://*.hooks.example.com/in/x"],
  ["a longer wildcard host", "https://a.hooks.example.com.evil.test/in/x"],
  ["another path", "https://a.hooks.example.com/admin"],
  ["the prefix without its slash", "https://a.hooks.example.com/in"],
  ["a longer segment", "http://10.1.2.3:8080/hookx"],
  ["an upper-case path", "https://a.hooks.example.com/IN/x"],
  ["a dot segment", "https://a.hooks.example.com/in/../admin"],
  ["a dot segment that comes back", "https://a.hooks.example.com/x/../in/y"],
  ["encoded dots", "https://a.hooks.example.com/in/%2e%2e/admin"],
  ["half encoded dots", "https://a.hooks.example.com/in/.%2E/admin"],
  ["an encoded slash behind dots", "https://a.hooks.example.com/in/..%2fadmin"],
  ["an encoded backslash behind dots", "https://a.hooks.example.com/in/..%5cadmin"],
  ["dots with a path parameter", "https://a.hooks.example.com/in/..;x/admin"],
  ["an encoded prefix", "https://a.hooks.example.com/%69n/x"],
  ["an address as a number", "http://167838211:8080/hook"],
  ["an address in hexadecimal", "http://0x0a.1.2.3:8080/hook"],
  ["an address with leading zeros", "http://10.1.2.003:8080/hook"],
  ["a mapped address", "http://[::ffff:10.1.2.3]:8080/hook"],
  ["the address without its port", "http://10.1.2.3/hook"],
  ["a line break in the query", "https://app.example.com/x?a=\r\nhost: evil.test"],
];

for (const [why, target] of NEAR_MISSES) {
  Deno.test(`${JSON.stringify(target)} is refused: ${why}`, () => {
    assert.equal(isAllowedTarget(target, ALLOWED), false);
  });
}

const BAD_PATTERNS = [
  "app.example.com",
  "https://*",
  "https://a.*.example.com",
  "https://app.*",
  "https://app.example.com/hooks*",
  "https://app.example.com/*/x",
  "https://app.example.com/?x=1",
  "https://app.example.com/#x",
  "https://user@app.example.com",
  "https://app.example.com./",
  "https://app.example.com/a/../b",
  "https://*.10.0.0.1/",
  "ftp://app.example.com",
];

for (const text of BAD_PATTERNS) {
  Deno.test(`the pattern ${text} stops the start`, () => {
    assert.equal(typeof parseTargetPattern(text), "string");
  });
}

Deno.test("a target is shown without its query", () => {
  assert.equal(shownTarget("https://app.example.com/x?token=1"), "https://app.example.com/x");
});
