import { Hono } from "hono";
import { originFault } from "../../lib/auth/forgery.ts";
import { returnTo } from "../../lib/auth/return_to.ts";
import { Tries } from "../../lib/auth/tries.ts";
import { type Problem, problem } from "../../lib/errors.ts";
import type { AdminContext, AdminEnv, AdminParts } from "./context.ts";
import { fieldOf, formOf } from "./form.ts";
import { page, problemPage } from "./layout.tsx";
import { oauthPages } from "./oauth.ts";

const PROVIDER_NAMES = { github: "GitHub", google: "Google", oidc: "single sign-on" } as const;

/** `/admin/sign-in`, `/admin/sign-out`: by a provider, or by the admin token. */
export function signInPages(parts: AdminParts): Hono<AdminEnv> {
  const { access, relay } = parts;
  const tries = new Tries(relay.clock);
  const app = new Hono<AdminEnv>();

  app.get("/sign-in", (context) => form(parts, context, context.req.query("return")));

  app.post("/sign-in", async (context) => {
    const { headers } = context.req.raw;
    const fields = await formOf(context);
    const back = fieldOf(fields, "return");
    const refused = originFault(headers, access.settings.publicUrl) ??
      transportFault(parts, headers);
    if (refused !== undefined) return problemPage(context, refused);
    const address = context.env.remote.hostname;
    if (tries.isSpent(address)) {
      return problemPage(
        context,
        problem("rate_limited", "cannot sign you in: too many wrong tokens; wait a minute"),
      );
    }
    const who = access.tokenHolder(fieldOf(fields, "token") ?? "");
    if (who === undefined) {
      tries.noteWrong(address);
      relay.log("warn", "sign_in_refused", { reason: "wrong_token" });
      return form(parts, context, back, problem("unauthorized", "The token is wrong."));
    }
    context.header("set-cookie", await access.begin(who, headers));
    relay.log("info", "signed_in", { via: "token" });
    return context.redirect(returnTo(back), 303);
  });

  app.post("/sign-out", async (context) => {
    const { headers } = context.req.raw;
    const refused = originFault(headers, access.settings.publicUrl);
    if (refused !== undefined) return problemPage(context, refused);
    const session = await access.session(headers);
    if (session !== undefined) context.header("set-cookie", await access.end(session, headers));
    return context.redirect("/admin/sign-in", 303);
  });
  app.route("/", oauthPages(parts));
  return app;
}

/** A browser drops the cookie of https on a plain connection: better say so than ask again. */
function transportFault({ access }: AdminParts, headers: Headers): Problem | undefined {
  const plain = headers.get("origin")?.startsWith("http:") ?? false;
  return plain && access.isSecure(headers)
    ? problem(
      "bad_parameter",
      "cannot sign you in over plain http: use https, or set PUBLIC_URL to this address",
    )
    : undefined;
}

function form(
  { access: { settings } }: AdminParts,
  context: AdminContext,
  back: string | undefined,
  fault?: Problem,
) {
  const query = back === undefined ? "" : `?return=${encodeURIComponent(back)}`;
  const { oauth, adminToken } = settings;
  return page(
    context,
    { title: "Sign in", status: fault === undefined ? 200 : 401 },
    <section class="card sign-in">
      <h1>Sign in</h1>
      {fault !== undefined && <p class="fault" role="alert">{fault.detail}</p>}
      {oauth !== undefined && (
        <a class="button primary" href={`/admin/oauth/start${query}`}>
          Continue with {PROVIDER_NAMES[oauth.provider]}
        </a>
      )}
      {adminToken !== undefined && (
        <form method="post" action="/admin/sign-in">
          {back !== undefined && <input type="hidden" name="return" value={back} />}
          <label>
            Admin token
            <input type="password" name="token" required autocomplete="current-password" />
          </label>
          <button type="submit" class={oauth === undefined ? "primary" : undefined}>
            Sign in with the token
          </button>
        </form>
      )}
    </section>,
  );
}
