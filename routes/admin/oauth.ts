import { Hono } from "hono";
import { cookie, readCookie } from "../../lib/auth/cookies.ts";
import { returnTo } from "../../lib/auth/return_to.ts";
import { newSecret } from "../../lib/auth/secret.ts";
import { problem } from "../../lib/errors.ts";
import type { AdminEnv, AdminParts } from "./context.ts";
import { problemPage } from "./layout.tsx";

/** `/admin/oauth/…`: to the provider and back. The library is loaded by the first who signs in. */
export function oauthPages({ access, relay }: AdminParts): Hono<AdminEnv> {
  const app = new Hono<AdminEnv>();
  const { oauth } = access.settings;
  if (oauth === undefined) return app;
  const signIn = async () => {
    const { OauthSignIn } = await import("../../lib/auth/oauth/sign_in.ts");
    return new OauthSignIn(oauth, relay.store);
  };
  let made: ReturnType<typeof signIn> | undefined;

  app.get("/oauth/start", async (context) => {
    const browser = newSecret();
    const back = returnTo(context.req.query("return"));
    const started = await (await (made ??= signIn())).start(browser, back);
    if ("code" in started) {
      relay.log("error", "sign_in_failed", { message: started.cause });
      return problemPage(context, started);
    }
    const secure = access.isSecure(context.req.raw.headers);
    context.header("set-cookie", cookie("oauth", browser, started.lifeS, secure));
    return context.redirect(started.url, 303);
  });

  app.get("/oauth/callback", async (context) => {
    const { headers, url } = context.req.raw;
    const secure = access.isSecure(headers);
    const browser = readCookie(headers.get("cookie"), "oauth", secure);
    const { search } = new URL(url);
    const ended = browser === undefined
      ? problem("forbidden", "cannot sign you in: it was not started in this browser")
      : await (await (made ??= signIn())).finish(browser, search);
    if ("code" in ended) {
      relay.log("warn", "sign_in_refused", {
        reason: ended.detail,
        message: "cause" in ended ? ended.cause : undefined,
      });
      return problemPage(context, ended);
    }
    context.header("set-cookie", await access.begin(ended.account, headers), { append: true });
    context.header("set-cookie", cookie("oauth", "", 0, secure), { append: true });
    relay.log("info", "signed_in", { via: oauth.provider, account: ended.account.id });
    return context.redirect(ended.returnTo, 303);
  });
  return app;
}
