import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import { cookie, isSecure, readCookie } from "../../lib/auth/cookies.ts";
import { originFault } from "../../lib/auth/forgery.ts";
import { returnTo } from "../../lib/auth/return_to.ts";
import { hasToken } from "../../lib/auth/token.ts";
import { anyText, fieldValues, texts } from "../helpers/arbitrary.ts";

const value = fc.stringMatching(/^[A-Za-z0-9_-]{43}$/);
const SECRET = "s".repeat(43);

Deno.test("readCookie() takes any header, and finds our cookie among others", () => {
  const others = fieldValues("a=1; b=2", `x-holdfast-session=${SECRET}`, "holdfast-session=x")
    .map((text) => text.replaceAll("holdfast-session=", "other="));
  fc.assert(fc.property(others, value, fc.boolean(), (before, value, secure) => {
    assert.equal(readCookie(before, "session", secure), undefined);
    const [ours] = cookie("session", value, 60, secure).split(";");
    const header = `${before}; ${ours}; c=3`;
    assert.equal(readCookie(header, "session", secure), value);
    assert.equal(readCookie(header, "oauth", secure), undefined);
    assert.equal(readCookie(header, "session", !secure), undefined);
  }));
  fc.assert(fc.property(fieldValues(`holdfast-session=${SECRET}`), (header) => {
    assert.match(readCookie(header, "session", false) ?? SECRET, /^[\w-]{43}$/);
  }));
});

Deno.test("isSecure() takes any host, and only this machine for one without https", () => {
  fc.assert(
    fc.property(fieldValues("localhost:8000", "a.localhost", "127.0.0.1", "[::1]:80"), (host) => {
      if (isSecure(undefined, host)) return;
      assert.match(new URL(`http://${host}`).hostname, /^(localhost|127\.[\d.]+|\[::1\])$/);
    }),
  );
});

Deno.test("hasToken() takes any header, and no other token than the one that is set", () => {
  const token = fc.stringMatching(/^[!-~]{1,40}$/);
  fc.assert(fc.property(fieldValues("Bearer s3cret", "bearer  x "), token, (header, token) => {
    const [, given] = /^bearer +(.*)$/i.exec(header.trim()) ?? [];
    assert.equal(hasToken(header, token), given?.trim() === token);
    assert.equal(hasToken(`Bearer ${token}`, token), true);
    assert.equal(hasToken(`Bearer ${token}x`, token), false);
    assert.equal(hasToken(header, undefined), false);
  }));
});

Deno.test("returnTo() leads to a page of ours, whatever is asked", () => {
  const pages = texts("/admin/deliveries?state=dead", "/\\evil.example", "//evil.example/admin");
  fc.assert(fc.property(pages, (text) => {
    const path = returnTo(text);
    const { origin, pathname } = new URL(path, "https://relay.example");
    assert.equal(origin, "https://relay.example");
    assert.match(pathname, /^\/admin(\/|$)/);
    assert.doesNotMatch(pathname, /^\/admin\/(sign-|oauth\/)/);
    new Headers({ location: path });
  }));
});

Deno.test("originFault() lets no other origin pass, whatever a page sends", () => {
  const site = fc.option(texts("same-origin", "cross-site"), { nil: undefined });
  const origin = fc.option(
    fieldValues("https://relay.example", "https://relay.example.evil", "null"),
    { nil: undefined },
  );
  fc.assert(fc.property(site, origin, (site, origin) => {
    const headers = new Headers({ host: "relay.example" });
    if (site !== undefined && /^[\x20-\x7e]*$/.test(site)) headers.set("sec-fetch-site", site);
    if (origin !== undefined) headers.set("origin", origin);
    if (originFault(headers, "https://relay.example") !== undefined) return;
    assert.ok([null, "same-origin"].includes(headers.get("sec-fetch-site")));
    assert.ok([null, "https://relay.example"].includes(headers.get("origin")));
    assert.ok(headers.has("origin") || headers.has("sec-fetch-site"));
  }));
  fc.assert(fc.property(fieldValues("https://relay.example", "null"), (origin) => {
    const headers = new Headers({ host: "relay.example", origin });
    if (originFault(headers, undefined) === undefined) {
      assert.equal(new URL(headers.get("origin")!).host, "relay.example");
    }
  }));
});

Deno.test("a text that is no page leads to the first one", () => {
  fc.assert(fc.property(anyText.filter((text) => !text.includes("admin")), (text) => {
    assert.equal(returnTo(text), "/admin");
  }));
});
