import assert from "node:assert/strict";
import { isSecure } from "../../lib/auth/cookies.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group, test } from "../helpers/group.ts";
import { reached, statusOf } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { ADMIN_TOKEN, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { csrfOf, html, Jar, signedIn } from "./jar.ts";

group("signing in with the admin token", async (behaviour) => {
  await using relay = await startRelay();

  await behaviour("a page leads to the sign-in form and remembers where to go", async () => {
    const jar = new Jar(relay.origin);
    const response = await jar.fetch("/admin/deliveries?state=dead");
    assert.equal(response.status, 303);
    const form = await jar.follow(response);
    assert.match(await form.text(), /value="\/admin\/deliveries\?state=dead"/);
  });

  for (
    const [target, location] of [
      ["//evil.example", "/admin"],
      ["/\\evil.example", "/admin"],
      ["https://evil.example/admin", "/admin"],
      ["/\t/evil.example", "/admin"],
      ["/admin/../docs", "/admin"],
      ["/administrator", "/admin"],
      ["/admin?x=1", "/admin?x=1"],
      ["/admin/deliveries?state=dead", "/admin/deliveries?state=dead"],
    ]
  ) {
    await behaviour(`the return target ${JSON.stringify(target)} ends on ${location}`, async () => {
      const fields = { token: ADMIN_TOKEN, return: target };
      const response = await new Jar(relay.origin).post("/admin/sign-in", fields);
      assert.equal(response.status, 303);
      assert.equal(response.headers.get("location"), location);
    });
  }

  await behaviour("a wrong token is refused and sets no cookie", async () => {
    const response = await new Jar(relay.origin).post("/admin/sign-in", { token: "wrong" });
    assert.equal(response.status, 401);
    assert.deepEqual(response.headers.getSetCookie(), []);
  });

  await behaviour("a form on another site cannot sign anybody in", async () => {
    const fields = { token: ADMIN_TOKEN };
    const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    const jar = new Jar(relay.origin);
    assert.equal(await statusOf(jar.post("/admin/sign-in", fields, headers)), 403);
    assert.equal(jar.cookies.size, 0);
  });

  await behaviour("signing out ends the session for every copy of the cookie", async () => {
    const jar = await signedIn(relay);
    const copy = new Jar(relay.origin);
    for (const [name, value] of jar.cookies) copy.cookies.set(name, value);
    const csrf = await csrfOf(jar);
    assert.equal(await statusOf(jar.post("/admin/sign-out", { csrf })), 303);
    assert.equal(await statusOf(copy.fetch("/admin")), 303);
    assert.equal(await statusOf(copy.fetch("/api/v1/status")), 401);
  });

  await behaviour("a GET of the sign-out address signs nobody out", async () => {
    const jar = await signedIn(relay);
    await statusOf(jar.fetch("/admin/sign-out", { headers: { "sec-fetch-site": "cross-site" } }));
    assert.equal(await statusOf(jar.fetch("/admin")), 200);
  });

  await behaviour("too many wrong tokens lock the form, but no session", async () => {
    const jar = await signedIn(relay);
    let status = 0;
    for (let n = 0; n < 12 && status !== 429; n++) {
      status = await statusOf(new Jar(relay.origin).post("/admin/sign-in", { token: "wrong" }));
    }
    assert.equal(status, 429);
    assert.equal(
      await statusOf(new Jar(relay.origin).post("/admin/sign-in", { token: ADMIN_TOKEN })),
      429,
    );
    assert.equal(await statusOf(jar.fetch("/admin")), 200);
  });

  await behaviour("another admin token ends the sessions of the old one", async () => {
    await relay.restart();
    const jar = await signedIn(relay);
    await relay.restart({ env: { ADMIN_TOKEN: "another" } });
    const later = new Jar(relay.origin);
    for (const [name, value] of jar.cookies) later.cookies.set(name, value);
    assert.equal(await statusOf(later.fetch("/api/v1/status")), 401);
  });
});

test("behind a proxy with TLS the cookie is bound to this host and to https", async () => {
  await using relay = await startRelay({ env: { PUBLIC_URL: "https://relay.example" } });
  const response = await new Jar(relay.origin).post(
    "/admin/sign-in",
    { token: ADMIN_TOKEN },
    { origin: "https://relay.example" },
  );
  const [line] = response.headers.getSetCookie();
  assert.match(
    line,
    /^__Host-holdfast-session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/,
  );
});

test("over https only the cookie that is bound to it counts", async () => {
  await using relay = await startRelay({ env: { PUBLIC_URL: "https://relay.example" } });
  const response = await new Jar(relay.origin).post(
    "/admin/sign-in",
    { token: ADMIN_TOKEN },
    { origin: "https://relay.example" },
  );
  const [, value] = /=([\w-]{43});/.exec(response.headers.getSetCookie()[0]) ?? [];
  const ask = (name: string) =>
    statusOf(fetch(`${relay.origin}/api/v1/status`, { headers: { cookie: `${name}=${value}` } }));
  assert.equal(await ask("holdfast-session"), 401);
  assert.equal(await ask("__Host-holdfast-session"), 200);
});

for (
  const [publicUrl, host, secure] of [
    ["https://relay.example", "127.0.0.1:8000", true],
    ["http://localhost:8000", "relay.example", false],
    [undefined, "127.0.0.1:8000", false],
    [undefined, "localhost:8000", false],
    [undefined, "[::1]:8000", false],
    [undefined, "relay.example", true],
    [undefined, "127.0.0.1.example", true],
    [undefined, null, true],
  ] as const
) {
  Deno.test(`cookies of ${host} with PUBLIC_URL ${publicUrl} are secure: ${secure}`, () => {
    assert.equal(isSecure(publicUrl, host), secure);
  });
}

group("writes by session", async (behaviour) => {
  await using sink = startSink({ status: 400 });
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  const { deliveryId } = await accept(relay, "demo");
  await reached(relay, deliveryId, "dead");
  const jar = await signedIn(relay);
  const page = `/admin/deliveries/${deliveryId}`;
  const csrf = await csrfOf(jar, page);
  const call = `/api/v1/deliveries/${deliveryId}/replay`;
  const site = { origin: relay.origin, "sec-fetch-site": "same-origin", "x-csrf-token": csrf };

  for (
    const [name, headers] of [
      ["from another origin", { ...site, origin: "https://evil.example" }],
      ["from an opaque origin", { ...site, origin: "null" }],
      ["from another site without an origin", {
        "sec-fetch-site": "cross-site",
        "x-csrf-token": csrf,
      }],
      ["with nothing that names a page", { "x-csrf-token": csrf }],
      ["without the token", { origin: relay.origin, "sec-fetch-site": "same-origin" }],
      ["with another token", { ...site, "x-csrf-token": "A".repeat(43) }],
    ] as [string, Record<string, string>][]
  ) {
    await behaviour(`a call ${name} is refused`, async () => {
      assert.equal(await statusOf(jar.fetch(call, { method: "POST", headers })), 403);
    });
  }

  await behaviour("a form from another origin is refused, and nothing was sent again", async () => {
    const status = await statusOf(
      jar.post(`${page}/replay`, { csrf }, { origin: "https://evil.example" }),
    );
    assert.equal(status, 403);
    assert.equal(sink.requests.length, 1);
  });

  await behaviour("a form of ours replays", async () => {
    const response = await jar.post(`${page}/replay`, { csrf });
    assert.equal(response.status, 303);
    assert.equal(response.headers.get("location"), page);
    await reached(relay, deliveryId, "dead");
    assert.equal(sink.requests.length, 2);
  });

  await behaviour("a call with the page's token replays", async () => {
    assert.equal(await statusOf(jar.fetch(call, { method: "POST", headers: site })), 202);
    await reached(relay, deliveryId, "dead");
  });

  await behaviour("a call with the bearer token needs no page", async () => {
    assert.equal(
      await statusOf(relay.api(`/deliveries/${deliveryId}/replay`, { method: "POST" })),
      202,
    );
  });
});

group("what a sender wrote", async (behaviour) => {
  await using sink = startSink({ status: 400 });
  await using relay = await startRelay({
    endpoints: [
      endpoint("shown", sink, { showPayload: true }),
      endpoint("hidden", "http://127.0.0.1:1/services/s3cr3t?token=s3cr3t"),
    ],
  });
  const jar = await signedIn(relay);
  const hostile = "</script><img src=x onerror=alert(1)>";
  const send = (id: string, body: BodyInit, event = id) =>
    fetch(`${relay.origin}/hook/${id}?access_token=s3cr3t`, {
      method: "POST",
      body,
      headers: {
        "x-event-id": `${hostile}${event}`,
        "x-note": `"><svg onload=1>`,
        "x-api-key": "s3cr3t",
        "content-type": "text/html",
      },
    }).then((response): Promise<{ deliveryId: string }> => response.json());
  const shown = await send("shown", "</script><script>alert(1)</script>\u0000\u001b[2J");
  const hidden = await send("hidden", "s3cr3t");
  await reached(relay, shown.deliveryId, "dead");
  await reached(relay, hidden.deliveryId, "dead");

  const pages = [
    "/admin",
    "/admin/deliveries",
    "/admin/dead-letters",
    `/admin/deliveries/${shown.deliveryId}`,
  ];
  for (const path of pages) {
    await behaviour(`${path.replace(/0\w{25}/, ":id")} shows it as text`, async () => {
      const text = await html(jar, path);
      assert.doesNotMatch(text, /<img src=x|<svg onload|<script>/);
      assert.equal(text.match(/<script/g)?.length ?? 0, text.includes("admin.js") ? 1 : 0);
    });
  }

  await behaviour(
    "no page shows a hidden payload, header or query, or a target's path",
    async () => {
      for (
        const path of [
          "/admin",
          "/admin/deliveries?endpoint=hidden",
          "/admin/dead-letters?endpoint=hidden",
          `/admin/deliveries/${hidden.deliveryId}`,
          "/admin/endpoints",
          "/admin/endpoints/hidden",
        ]
      ) assert.doesNotMatch(await html(jar, path), /s3cr3t/, path);
    },
  );

  await behaviour("the payload comes as an attachment in a sandbox", async () => {
    const response = await jar.fetch(`/api/v1/deliveries/${shown.deliveryId}/payload`);
    assert.match(response.headers.get("content-disposition") ?? "", /^attachment/);
    assert.match(response.headers.get("content-security-policy") ?? "", /sandbox/);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
  });

  await behaviour("every page forbids scripts of its own, frames and sniffing", async () => {
    const response = await jar.fetch("/admin");
    const policy = response.headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.equal(response.headers.get("x-frame-options"), "DENY");
  });

  await behaviour("five megabytes make a page of a few kilobytes", async () => {
    const { deliveryId } = await send("shown", new Uint8Array(5_000_000).fill(0xff), "large");
    const text = await html(jar, `/admin/deliveries/${deliveryId}`);
    assert(text.length < 60_000, `the page has ${text.length} characters`);
    assert.match(text, /ff ff ff/);
  });
});
