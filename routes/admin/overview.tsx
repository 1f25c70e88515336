import { Hono } from "hono";
import { historyOf, type Span } from "../../lib/flow/operate/history.ts";
import { statusOf } from "../../lib/flow/operate/status.ts";
import { statusShape } from "../operator/status.ts";
import type { AdminEnv, AdminParts } from "./context.ts";
import { Island } from "./island.tsx";
import { page } from "./layout.tsx";

/** `/admin`: the relay at one look. */
export function overviewPage({ relay }: AdminParts): Hono<AdminEnv> {
  const app = new Hono<AdminEnv>();
  app.get("/", async (context) => {
    const span = spanOf(context.req.query("span"));
    const [status, series] = await Promise.all([statusOf(relay), historyOf(relay, span)]);
    const props = { status: statusShape(status), series, span, nowMs: relay.clock.nowMs() };
    return page(context, { title: "Overview" }, <Island name="Overview" props={props} />);
  });
  app.get("/series", async (context) => {
    return context.json(await historyOf(relay, spanOf(context.req.query("span"))));
  });
  return app;
}

const spanOf = (text: string | undefined): Span => text === "day" ? "day" : "hour";
