import { Hono } from "hono";
import { problem } from "../../lib/errors.ts";
import { passOn } from "../problem.ts";
import { shortBody } from "../short_body.ts";
import { assetRoutes } from "./assets.ts";
import type { AdminEnv, AdminParts } from "./context.ts";
import { deadLetterPages } from "./dead_letters.tsx";
import { deliveryPages } from "./deliveries.tsx";
import { deliveryPage } from "./delivery.tsx";
import { endpointPages } from "./endpoints.tsx";
import { pageHeaders, shutPages, signedIn } from "./gate.ts";
import { githubPage } from "./github.tsx";
import { problemPage } from "./layout.tsx";
import { overviewPage } from "./overview.tsx";
import { replayPages } from "./replays.tsx";
import { signInPages } from "./sign_in.tsx";

/** Builds the admin page. Loaded by the first request for it: hooks must not wait for it. */
export function createAdminPages(parts: AdminParts): Hono<AdminEnv> {
  const app = new Hono<AdminEnv>();
  app.onError(passOn);
  app.use("*", pageHeaders, shutPages(parts), shortBody(parts.relay));
  app.route("/admin/static", assetRoutes());
  app.route("/admin", signInPages(parts));
  app.use("*", signedIn(parts));
  app.get("/admin/", (context) => context.redirect("/admin", 308));
  app.route("/admin", overviewPage(parts));
  app.route("/admin/deliveries", deliveryPages(parts));
  app.route("/admin/deliveries", deliveryPage(parts));
  app.route("/admin/dead-letters", deadLetterPages(parts));
  app.route("/admin/replays", replayPages(parts));
  app.route("/admin/endpoints", endpointPages(parts));
  app.route("/admin/github", githubPage(parts));
  app.notFound((context) =>
    problemPage(context, problem("not_found", "cannot find the page: no such route"))
  );
  return app;
}
