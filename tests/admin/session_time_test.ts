import assert from "node:assert/strict";
import { Access } from "../../lib/auth/access.ts";
import { OauthSignIn } from "../../lib/auth/oauth/sign_in.ts";
import type { Clock } from "../../lib/ports.ts";
import { Committer } from "../../lib/store/commit.ts";

/** A clock that goes only where it is told; so does the one timer that is set. */
class SetClock implements Clock {
  ms = 1_800_000_000_000;
  ring: () => unknown = () => {};
  nowMs = () => this.ms;
  monotonicMs = () => this.ms;
  after = (_delayMs: number, fn: () => void) => {
    this.ring = fn;
    return () => this.ring = () => {};
  };
}

async function withStore(
  check: (store: ConstructorParameters<typeof Access>[1], clock: SetClock) => Promise<void>,
): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  try {
    const clock = new SetClock();
    await check({ kv, clock, committer: new Committer(kv, clock) }, clock);
  } finally {
    kv.close();
  }
}

Deno.test("a session ends after twelve hours, even where its row is still there", async () => {
  await withStore(async (store, clock) => {
    const access = new Access({ adminToken: "tok" }, store);
    const host = { host: "127.0.0.1:8000" };
    const line = await access.begin(access.tokenHolder("tok")!, new Headers(host));
    const headers = new Headers({ ...host, cookie: line.split(";")[0] });
    clock.ms += 12 * 3_600_000 - 1;
    assert.notEqual(await access.session(headers), undefined);
    clock.ms += 1;
    assert.equal(await access.session(headers), undefined);
  });
});

Deno.test("who waits for a session's end is told of its time, of nothing before it", async () => {
  await withStore(async (store, clock) => {
    const access = new Access({ adminToken: "tok" }, store);
    const host = { host: "127.0.0.1:8000" };
    const line = await access.begin(access.tokenHolder("tok")!, new Headers(host));
    const session = await access.session(new Headers({ ...host, cookie: line.split(";")[0] }));
    let ends = 0;
    access.onEnd(session!, () => ends++);
    clock.ms += 12 * 3_600_000 - 1;
    await clock.ring();
    assert.equal(ends, 0);
    clock.ms += 1;
    await clock.ring();
    assert.equal(ends, 1);
  });
});

Deno.test("a session's time ends it while the store does not answer, too", async () => {
  const clock = new SetClock();
  const kv = await Deno.openKv(":memory:");
  const access = new Access(
    { adminToken: "tok" },
    { kv, clock, committer: new Committer(kv, clock) },
  );
  kv.close();
  const who = access.tokenHolder("tok")!;
  const times = { createdAtMs: clock.ms, expiresAtMs: clock.ms + 1_000 };
  let ends = 0;
  access.onEnd({ who, ...times, secret: "s" }, () => ends++);
  await clock.ring();
  assert.equal(ends, 0);
  clock.ms += 1_000;
  await clock.ring();
  assert.equal(ends, 1);
});

Deno.test("a sign-in that comes back after more than ten minutes is refused", async () => {
  await withStore(async (store, clock) => {
    const users = {
      logins: new Set(["octo-admin"]),
      emails: new Set<string>(),
      ids: new Set<string>(),
    };
    const signIn = new OauthSignIn({
      provider: "github",
      issuer: "http://127.0.0.1:1",
      apiUrl: "http://127.0.0.1:1",
      clientId: "id",
      clientSecret: "secret",
      redirectUrl: "http://127.0.0.1:8000/admin/oauth/callback",
      users,
    }, store);
    const started = await signIn.start("browser", "/admin");
    assert("url" in started);
    const state = new URL(started.url).searchParams.get("state");
    clock.ms += 11 * 60_000;
    const ended = await signIn.finish("browser", `?state=${state}&code=x`);
    assert("code" in ended);
    assert.match(ended.detail, /time is over/);
  });
});
