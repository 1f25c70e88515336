import assert from "node:assert/strict";
import { hmacHex } from "../helpers/bytes.ts";
import { StandInGithub } from "../helpers/github.ts";
import { delivery, reached, statusOf } from "../helpers/operator.ts";
import { freePort } from "../helpers/ports.ts";
import { post } from "../helpers/post.ts";
import type { Relay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { firstPass, startAppRelay } from "../recover/app_setup.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** The program as `deno task build` makes it, in a folder with the files it serves. */
class Built implements Disposable {
  readonly #folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });

  static async make(): Promise<Built> {
    const built = new Built();
    const task = new Deno.Command(Deno.execPath(), {
      args: ["task", "-q", "build:program", "--outdir", `${built.#folder}/dist`],
      cwd: ROOT,
    });
    const { success, stderr } = await task.output();
    assert(success, new TextDecoder().decode(stderr));
    for (const name of ["docs", "static"]) {
      Deno.symlinkSync(`${ROOT}${name}`, `${built.#folder}/${name}`);
    }
    return built;
  }

  get main(): string {
    return `${this.#folder}/dist/main.js`;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#folder, { recursive: true });
  }
}

const BODY = '{"text":"Grüße"}';

/** Has each part that is loaded when it is first used be used. */
async function useAll(relay: Relay): Promise<void> {
  for (const path of ["/docs/guide", "/docs/guide/deploying", "/admin/static/admin.css"]) {
    assert.equal(await statusOf(fetch(relay.origin + path)), 200, path);
  }
  const page = await fetch(`${relay.origin}/admin`, { headers: { accept: "text/html" } });
  assert.match(await page.text(), /<h1>Sign in/);
  for (const path of ["/api/v1/deliveries", "/openapi.json", "/metrics"]) {
    assert.equal(await statusOf(relay.asOperator(path)), 200, path);
  }
  const signIn = fetch(`${relay.origin}/admin/oauth/start`, { redirect: "manual" });
  assert.equal(await statusOf(signIn), 303);
  assert.equal((await firstPass(relay)).trouble, undefined);
}

Deno.test("the built program delivers, watches GitHub, and has every part that is loaded late", async () => {
  using built = await Built.make();
  await using github = new StandInGithub();
  await using sink = startSink((_, index) => index === 0 ? { status: 503 } : {});
  await using relay = await startAppRelay(sink, github, {
    main: built.main,
    endpoint: { retry: { schedule: ["100ms"] } },
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${freePort()}`,
      PUBLIC_URL: "http://127.0.0.1",
      OAUTH_PROVIDER: "github",
      OAUTH_ISSUER: github.url,
      OAUTH_CLIENT_ID: "client",
      OAUTH_CLIENT_SECRET: "secret",
      ADMIN_USERS: "octocat",
    },
  });
  const headers = {
    "x-github-event": "push",
    "x-github-delivery": crypto.randomUUID(),
    "x-hub-signature-256": `sha256=${hmacHex(github.hook.secret!, BODY)}`,
  };
  const { http, deliveryId } = await post(relay, "gh", { body: BODY, headers });
  assert.equal(http, 200);
  await reached(relay, deliveryId, "delivered");
  assert.deepEqual(sink.bodies, [BODY, BODY]);
  await useAll(relay);
  assert.equal(await relay.kill("SIGTERM"), 0);
  await relay.restart();
  assert.equal((await delivery(relay, deliveryId)).attemptCount, 2);
});
