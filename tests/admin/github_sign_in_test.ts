import assert from "node:assert/strict";
import { group } from "../helpers/group.ts";
import { statusOf } from "../helpers/operator.ts";
import { freePort } from "../helpers/ports.ts";
import { type Relay, runToExit, startRelay } from "../helpers/program.ts";
import { until } from "../helpers/wait.ts";
import { GithubStandIn } from "./github_stand_in.ts";
import { csrfOf, Jar } from "./jar.ts";

function settings(port: number, github: string, users: string): Record<string, string> {
  return {
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    ADMIN_TOKEN: "",
    OAUTH_PROVIDER: "github",
    OAUTH_ISSUER: github,
    GITHUB_API_URL: github,
    OAUTH_CLIENT_ID: "client",
    OAUTH_CLIENT_SECRET: "secret",
    ADMIN_USERS: users,
  };
}

/** Goes all the way; returns the browser and what the callback answered. */
async function signIn(relay: Relay, back = ""): Promise<{ jar: Jar; callback: Response }> {
  const jar = new Jar(relay.origin);
  const callback = await jar.fetch(await callbackOf(jar, back));
  return { jar, callback };
}

/** Starts and lets the provider say yes; returns the callback's address, not yet called. */
async function callbackOf(jar: Jar, back = ""): Promise<string> {
  const start = await jar.fetch(`/admin/oauth/start?return=${encodeURIComponent(back)}`);
  assert.equal(start.status, 303, await start.text());
  const provider = await fetch(start.headers.get("location")!, { redirect: "manual" });
  await provider.body?.cancel();
  return provider.headers.get("location")!;
}

group("signing in at GitHub", async (behaviour) => {
  await using github = new GithubStandIn();
  const port = freePort();
  await using relay = await startRelay({
    env: settings(port, github.origin, "octo-admin, id:7, boss@example.com"),
  });
  const enters = async ({ jar }: { jar: Jar }) =>
    await statusOf(jar.fetch("/api/v1/status")) === 200;

  await behaviour("a login on the list enters, in any case", async () => {
    github.user = { id: 1, login: "Octo-Admin" };
    assert(await enters(await signIn(relay)));
  });

  await behaviour("without an admin token the API is open to sessions alone", async () => {
    assert.equal(await statusOf(fetch(`${relay.origin}/api/v1/status`)), 401);
  });

  await behaviour("the same login of another account is refused and reported", async () => {
    github.user = { id: 2, login: "octo-admin" };
    const { callback, jar } = await signIn(relay);
    assert.equal(callback.status, 403);
    assert(!await enters({ jar }));
    await until(() => /sign_in_refused.*first came with another account/.test(relay.output), {
      what: "the log to tell of it",
    });
  });

  await behaviour("an id on the list enters under any login", async () => {
    github.user = { id: 7, login: "somebody" };
    assert(await enters(await signIn(relay)));
  });

  await behaviour("nobody else enters", async () => {
    github.user = { id: 8, login: "somebody-else" };
    const { callback, jar } = await signIn(relay);
    assert.equal(callback.status, 403);
    assert(!await enters({ jar }));
  });

  for (const verified of [true, false]) {
    await behaviour(`an address that is verified: ${verified} decides`, async () => {
      github.user = { id: 9, login: "boss", emails: [{ email: "Boss@example.com", verified }] };
      assert.equal(await enters(await signIn(relay)), verified);
    });
  }

  github.user = { id: 1, login: "octo-admin" };
  for (
    const [back, location] of [
      ["//evil.example", "/admin"],
      ["/\\evil.example", "/admin"],
      ["https://evil.example", "/admin"],
      ["/admin?x=1", "/admin?x=1"],
    ]
  ) {
    await behaviour(`the return target ${back} ends on ${location}`, async () => {
      const { callback } = await signIn(relay, back);
      assert.equal(callback.headers.get("location"), location);
    });
  }

  await behaviour("another browser cannot finish a sign-in, with or without a cookie", async () => {
    const callback = await callbackOf(new Jar(relay.origin));
    const stranger = new Jar(relay.origin);
    assert.equal((await stranger.fetch(callback)).status, 403);
    await callbackOf(stranger);
    assert.equal((await stranger.fetch(callback)).status, 403);
    assert(!await enters({ jar: stranger }));
  });

  await behaviour("a callback is good once, and its second use ends no session", async () => {
    const jar = new Jar(relay.origin);
    const callback = await callbackOf(jar);
    const cookies = new Map(jar.cookies);
    assert.equal((await jar.fetch(callback)).status, 303);
    for (const [name, value] of cookies) jar.cookies.set(name, value);
    assert.equal((await jar.fetch(callback)).status, 403);
    assert(await enters({ jar }));
  });

  await behaviour("a state that nobody made is refused", async () => {
    const jar = new Jar(relay.origin);
    await callbackOf(jar);
    assert.equal((await jar.fetch("/admin/oauth/callback?state=made-up&code=x")).status, 403);
  });

  await behaviour("the client's secret and the tokens are in no log", () => {
    assert.doesNotMatch(relay.output, /gho_1|"secret"|code_verifier/);
    return Promise.resolve();
  });

  await behaviour("whoever is taken off the list is out at the next request", async () => {
    const { jar } = await signIn(relay);
    assert.notEqual(await csrfOf(jar), "");
    await relay.restart({ env: settings(port, github.origin, "id:7") });
    assert(!await enters({ jar }));
  });
});

for (
  const [name, changes, complaint] of [
    ["ADMIN_USERS is missing", { ADMIN_USERS: "" }, /ADMIN_USERS is missing/],
    ["ADMIN_USERS names nobody", { ADMIN_USERS: " , " }, /ADMIN_USERS names nobody/],
    ["PUBLIC_URL is missing", { PUBLIC_URL: "" }, /PUBLIC_URL is missing/],
    [
      "the issuer is remote and plain",
      { OAUTH_ISSUER: "http://id.example" },
      /OAUTH_ISSUER is not/,
    ],
    [
      "a login is to count at an OpenID provider",
      { OAUTH_PROVIDER: "oidc" },
      /ADMIN_USERS has a login/,
    ],
  ] as const
) {
  Deno.test(`the program does not start where ${name}`, async () => {
    const env = { ...settings(8000, "https://github.example", "octo-admin"), ...changes };
    const { code, output } = await runToExit({ env });
    assert.equal(code, 1);
    assert.match(output, complaint);
    assert.doesNotMatch(output, /"secret"/);
  });
}
