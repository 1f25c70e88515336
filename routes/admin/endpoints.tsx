import { Hono } from "hono";
import { FateBadges } from "../../islands/badges.tsx";
import { countUpTo, duration, size } from "../../islands/format.tsx";
import { operateLane, unknownEndpoint } from "../../lib/flow/operate/lanes.ts";
import { overviewOf, shownLanes } from "../../lib/flow/operate/overview.ts";
import { testEndpoint, type TestResult } from "../../lib/flow/operate/test_event.ts";
import { isRelayLane } from "../../lib/ids.ts";
import type { LaneAction } from "../../lib/decide/operator.ts";
import { endpointShape } from "../operator/endpoint_shape.ts";
import { type AdminContext, type AdminEnv, type AdminParts, originOf } from "./context.ts";
import { Island } from "./island.tsx";
import { LaneFacts } from "./lane_facts.tsx";
import { CsrfField, page, problemPage } from "./layout.tsx";

type EndpointView = ReturnType<typeof endpointShape>;

const ACTIONS: readonly LaneAction[] = ["pause", "resume", "enable", "disable"];

/** `/admin/endpoints`: all endpoints, each with its settings, its URL and its switches. */
export function endpointPages(parts: AdminParts): Hono<AdminEnv> {
  const { relay } = parts;
  const app = new Hono<AdminEnv>();

  app.get("/", async (context) => {
    const nowMs = relay.clock.nowMs();
    const overviews = (await shownLanes(relay)).map((lane) => overviewOf(relay, lane));
    const endpoints = (await Promise.all(overviews)).map((one) => endpointShape(one, nowMs));
    return page(context, { title: "Endpoints" }, <List endpoints={endpoints} nowMs={nowMs} />);
  });

  app.get("/:id", async (context) => await show(parts, context));

  for (const action of ACTIONS) {
    app.post(`/:id/${action}`, async (context) => {
      const id = context.req.param("id");
      const lane = await operateLane(relay, id, action);
      return "code" in lane
        ? problemPage(context, lane)
        : context.redirect(`/admin/endpoints/${lane.id}`, 303);
    });
  }

  app.post("/:id/test", async (context) => {
    const result = await testEndpoint(relay, context.req.param("id"));
    return "ok" in result ? await show(parts, context, result) : problemPage(context, result);
  });
  return app;
}

async function show(parts: AdminParts, context: AdminContext, test?: TestResult) {
  const { relay } = parts;
  const lane = await relay.lanes.find(context.req.param("id") ?? "");
  if (lane === undefined) return problemPage(context, unknownEndpoint("show"));
  const nowMs = relay.clock.nowMs();
  const endpoint = endpointShape(await overviewOf(relay, lane), nowMs);
  const url = `${originOf(parts, context)}/hook/${endpoint.id}`;
  return page(
    context,
    { title: endpoint.id },
    <>
      <div class="title">
        <h1>{endpoint.id}</h1>
        <FateBadges {...endpoint} nowMs={nowMs} />
      </div>
      {test !== undefined && <TestOutcome test={test} />}
      <Switches context={context} endpoint={endpoint} />
      <LaneFacts lane={{ endpoint: endpoint.id, ...endpoint }} nowMs={nowMs} />
      {!isRelayLane(endpoint.id) && (
        <section class="card">
          <h2>URL to paste at the sender</h2>
          <Island name="Copy" props={{ text: url, label: "URL to paste at the sender" }} />
        </section>
      )}
      <Settings endpoint={endpoint} />
    </>,
  );
}

function List({ endpoints, nowMs }: { endpoints: EndpointView[]; nowMs: number }) {
  if (endpoints.length === 0) {
    return (
      <>
        <h1>Endpoints</h1>
        <p class="empty">
          None is configured. Write one into <code>ENDPOINTS</code> or <code>endpoints.json</code>:
        </p>
        <pre
          tabIndex={0}
        >{`[{ "id": "github", "targetUrl": "https://app.example.com/webhooks" }]`}</pre>
      </>
    );
  }
  return (
    <>
      <h1>Endpoints</h1>
      <div class="scroll card" tabIndex={0} role="region" aria-label="Endpoints">
        <table>
          <thead>
            <tr>
              <th scope="col">Endpoint</th>
              <th scope="col">Target</th>
              <th scope="col">Sender</th>
              <th scope="col">Health</th>
              <th scope="col" class="n">Waiting</th>
              <th scope="col" class="n">Dead</th>
            </tr>
          </thead>
          <tbody>
            {endpoints.map((one) => (
              <tr key={one.id}>
                <th scope="row">
                  <a href={`/admin/endpoints/${one.id}`}>{one.id}</a>
                </th>
                <td>
                  <code>{one.targetUrl}</code>
                </td>
                <td>{one.provider ?? "–"}</td>
                <td>
                  <FateBadges {...one} nowMs={nowMs} />
                </td>
                <td class="n">{countUpTo(one.counts.pending, one.counts.countedUpTo)}</td>
                <td class="n">{countUpTo(one.counts.dead, one.counts.countedUpTo)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const LABELS: Record<LaneAction | "test", string> = {
  pause: "Pause",
  resume: "Resume",
  enable: "Enable",
  disable: "Disable",
  test: "Send test event",
};

function Switches({ context, endpoint }: { context: AdminContext; endpoint: EndpointView }) {
  const { id, paused, health } = endpoint;
  const fitting: (LaneAction | "test")[] = [
    "test",
    paused ? "resume" : "pause",
    ...(health === "enabled" ? [] : ["enable" as const]),
    ...(health === "disabled" ? [] : ["disable" as const]),
  ];
  return (
    <div class="buttons">
      {fitting.map((action) => (
        <form key={action} method="post" action={`/admin/endpoints/${id}/${action}`}>
          <CsrfField context={context} />
          <button type="submit" class={action === "test" ? "primary" : undefined}>
            {LABELS[action]}
          </button>
        </form>
      ))}
    </div>
  );
}

function TestOutcome({ test: { ok, status, code, ms } }: { test: TestResult }) {
  return (
    <p class={ok ? "calm" : "fault"} role="status">
      Test event: the target{" "}
      {status === undefined ? `could not be reached (${code})` : `answered ${status}`} after{" "}
      {duration(ms)}.
    </p>
  );
}

function Settings({ endpoint }: { endpoint: EndpointView }) {
  return (
    <section class="card">
      <h2>Settings</h2>
      <dl class="facts">
        {settingsOf(endpoint).map(([name, value]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      <p class="note">Secrets, header values and the target's path are not shown.</p>
    </section>
  );
}

function settingsOf(endpoint: EndpointView): [string, string][] {
  const { retry, breakerSettings: breaker, headers, secrets, rateLimit, deadRetentionMs } =
    endpoint;
  return [
    ["Target", endpoint.targetUrl],
    ["Sender", endpoint.provider ?? endpoint.signatureHeader ?? "no preset"],
    ["Secrets", secrets.length === 0 ? "none: requests are not verified" : `${secrets.length} set`],
    ["Methods", endpoint.methods.join(", ")],
    ["Duplicates", `${endpoint.dedup}${windowText(endpoint.dedupWindowMs)}`],
    ["Largest body", size(endpoint.maxBodyBytes)],
    ["Order", endpoint.ordered ? "strict, one after the other" : "none"],
    ["At once", String(endpoint.concurrency)],
    ["Rate limit", rateLimit === undefined ? "none" : `${rateLimit} a second`],
    ["Attempt timeout", duration(endpoint.timeoutMs)],
    ["Retry waits", retry.delaysMs.map(duration).join(", ")],
    ["Breaker", breaker === false ? "off" : `after ${breaker.failures} failures`],
    ["Disabled after", `${duration(endpoint.disableAfterMs)} of failures alone`],
    ["Headers set", Object.keys(headers).join(", ") || "none"],
    ["Signed again", endpoint.restamp ? "yes, as the sender does" : "no"],
    ["Payload shown", endpoint.showPayload ? "yes" : "no"],
    ["Delivered kept", duration(endpoint.retentionMs)],
    ["Dead kept", deadRetentionMs === undefined ? "for ever" : duration(deadRetentionMs)],
  ];
}

const windowText = (ms: number | undefined) => ms === undefined ? "" : `, for ${duration(ms)}`;
