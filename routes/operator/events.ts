import { Hono } from "hono";
import { problem, StoreUnavailable } from "../../lib/errors.ts";
import type { LiveEvents } from "../../lib/observe/live/live.ts";
import { parsePosition } from "../../lib/observe/live/position.ts";
import { EventStream } from "../../lib/observe/live/stream.ts";
import { problemResponse } from "../problem.ts";

interface Parts {
  live: LiveEvents;
  isStopping: () => boolean;
}

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // nginx and its relatives collect an answer before they pass it on, unless told not to.
  "x-accel-buffering": "no",
};

/** `GET /events`: what happens in all processes, as server-sent events. */
export function eventRoutes(parts: Parts): Hono {
  const app = new Hono();
  app.get("/", async (context) => {
    const [name] = new URL(context.req.url).searchParams.keys();
    if (name !== undefined) {
      const detail = `cannot listen: ${name.slice(0, 40)} is not a known parameter`;
      return problemResponse(problem("bad_parameter", detail));
    }
    return await listen(parts, context.req.header("last-event-id"));
  });
  return app;
}

async function listen({ live, isStopping }: Parts, lastEventId = ""): Promise<Response> {
  if (isStopping()) {
    return problemResponse(problem("stopping", "cannot listen: the relay is stopping"));
  }
  if (live.isFull) {
    return problemResponse(problem("rate_limited", "cannot listen: too many listeners are here"));
  }
  const stream = new EventStream();
  try {
    stream.onCancel(await live.listen(stream, parsePosition(lastEventId)));
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return problemResponse(
      problem("store_unavailable", "cannot listen: the store does not answer"),
    );
  }
  return new Response(stream.body, { headers: HEADERS });
}
