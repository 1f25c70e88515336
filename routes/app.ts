import { Hono } from "hono";
import { Access, type AccessSettings } from "../lib/auth/access.ts";
import type { Relay } from "../lib/flow/relay.ts";
import { problem, StoreUnavailable } from "../lib/errors.ts";
import type { LiveEvents } from "../lib/observe/live/live.ts";
import type { Metrics } from "../lib/observe/metrics.ts";
import { rawTarget, refuseAtDoor } from "./door.ts";
import { healthRoutes } from "./health.ts";
import { handleHook, isHook, type Remote } from "./ingest.ts";
import { metricsRoutes } from "./metrics.ts";
import { answerNotFound } from "./not_found.ts";
import { guard } from "./operator/guard.ts";
import { isAdmin, isGuide, isOperator } from "./operator/paths.ts";
import { changeUnknown, passOn, problemResponse, storeUnavailable } from "./problem.ts";
import { handleRelay, namesTarget } from "./relay.ts";

/** What watches the relay, and can be asked. */
export interface Watchers {
  live: LiveEvents;
  metrics: Metrics;
}

export type Handler = (request: Request, remote: Remote) => Promise<Response>;

/** Builds the whole HTTP surface: the door first, then hooks, then operators, then the rest. */
export function createApp(relay: Relay, settings: AccessSettings, watchers: Watchers): Handler {
  const parts = { ...relay, publicUrl: settings.publicUrl };
  const access = new Access(settings, relay.store);
  const rest = createRest(relay, access, watchers);
  const operator = onFirstUse(async () => {
    const { createOperatorSurface } = await import("./operator/surface.ts");
    return createOperatorSurface({ relay, live: watchers.live, access });
  });
  const admin = onFirstUse(async () => {
    const { createAdminPages } = await import("./admin/pages.ts");
    return createAdminPages({ relay, access });
  });
  const guide = onFirstUse(async () => {
    const { createGuide } = await import("./guide/guide.ts");
    return createGuide(access.isOpen);
  });
  return async (request, remote) => {
    try {
      const refused = refuseAtDoor(request);
      if (refused !== undefined) return refused;
      const { path } = rawTarget(request.url);
      if (isHook(path)) return await handleHook(parts, request, remote);
      if (namesTarget(request)) return await handleRelay(parts, request, remote);
      if (isAdmin(path)) return await (await admin()).fetch(request, { remote });
      if (isGuide(path)) return await (await guide()).fetch(request);
      return await (isOperator(path) ? await operator() : rest).fetch(request);
    } catch (error) {
      return answerThrown(relay, request, error as Error);
    }
  };
}

/** Answers for what no route expects: an outage of the store, or a fault of ours. */
function answerThrown({ clock, observe, log }: Relay, request: Request, error: Error): Response {
  const { message, stack } = error;
  if (error instanceof StoreUnavailable) {
    observe({ type: "store_error", atMs: clock.nowMs(), doing: "answer a request", message });
    return wantsChange(request) ? changeUnknown() : storeUnavailable();
  }
  log("error", "request_failed", { message, stack });
  return problemResponse(
    problem("internal", "cannot answer the request: a fault of the relay, see its log"),
  );
}

/** Whether an operator asked for more than to look. */
function wantsChange({ method, url }: Request): boolean {
  const { path } = rawTarget(url);
  return method !== "GET" && method !== "HEAD" && (isAdmin(path) || isOperator(path));
}

/** What needs no schemas, and so is there at once: liveness, readiness, metrics. */
function createRest(relay: Relay, access: Access, { metrics }: Watchers): Hono {
  const app = new Hono();
  app.onError(passOn);
  answerNotFound(app);
  app.route("/", healthRoutes(relay));
  app.use("/metrics", guard(access));
  app.route("/", metricsRoutes(relay, metrics));
  return app;
}

/** Makes something when it is first asked for; a failure is tried again by the next. */
function onFirstUse<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () =>
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
}
