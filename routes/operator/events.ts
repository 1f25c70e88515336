import { Hono } from "hono";
import type { Access, Session } from "../../lib/auth/access.ts";
import { problem } from "../../lib/errors.ts";
import type { LiveEvents } from "../../lib/observe/live/live.ts";
import { parsePosition } from "../../lib/observe/live/position.ts";
import { EventStream } from "../../lib/observe/live/stream.ts";
import { problemResponse } from "../problem.ts";
import type { GuardedEnv } from "./guard.ts";

interface Parts {
  access: Access;
  live: LiveEvents;
  isStopping: () => boolean;
}

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // nginx and its relatives collect an answer before they pass it on, unless told not to.
  "x-accel-buffering": "no",
};

/**
 * `GET /events`: what happens in all processes, as server-sent events. A stream that was
 * opened by session ends soon after it.
 */
export function eventRoutes(parts: Parts): Hono<GuardedEnv> {
  const app = new Hono<GuardedEnv>();
  app.get("/", async (context) => {
    const [name] = new URL(context.req.url).searchParams.keys();
    if (name !== undefined) {
      const detail = `cannot listen: ${name.slice(0, 40)} is not a known parameter`;
      return problemResponse(problem("bad_parameter", detail));
    }
    return await listen(parts, context.var.session, context.req.header("last-event-id"));
  });
  return app;
}

async function listen(
  { access, live, isStopping }: Parts,
  session: Session | undefined,
  lastEventId = "",
): Promise<Response> {
  if (isStopping()) {
    return problemResponse(problem("stopping", "cannot listen: the relay is stopping"));
  }
  if (live.isFull) {
    return problemResponse(problem("rate_limited", "cannot listen: too many listeners are here"));
  }
  const stream = new EventStream();
  const leave = await live.listen(stream, parsePosition(lastEventId));
  const forget = session && access.onEnd(session, () => stream.end());
  stream.onCancel(() => {
    leave();
    forget?.();
  });
  return new Response(stream.body, { headers: HEADERS });
}
