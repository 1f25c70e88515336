import { createHash, randomBytes } from "node:crypto";
import { monotonicFactory } from "ulid";
import { afterWrites } from "./lib/boot/after_writes.ts";
import { clock } from "./lib/boot/clock.ts";
import { cronSchedule } from "./lib/boot/cron.ts";
import { devGreeting } from "./lib/boot/dev.ts";
import { pooledFractions } from "./lib/boot/random.ts";
import { serve } from "./lib/boot/serve.ts";
import { readSettings } from "./lib/boot/settings.ts";
import { writeOut } from "./lib/boot/stdout.ts";
import { openStore } from "./lib/boot/store.ts";
import { transportOnFirstUse } from "./lib/boot/transport.ts";
import type { Config } from "./lib/config.ts";
import { createRelay, type Relay } from "./lib/flow/relay.ts";
import { LiveEvents } from "./lib/observe/live/live.ts";
import { createLog, logEvents } from "./lib/observe/log.ts";
import { Metrics } from "./lib/observe/metrics.ts";
import { loadTelemetry } from "./lib/observe/telemetry/load.ts";
import { tellAll } from "./lib/observe/tell.ts";
import { senderFor } from "./lib/verify/sender.ts";
import { createApp } from "./routes/app.ts";

const DEV = Deno.args.includes("--dev");

const started = Promise.withResolvers<Relay>();

// Deno Deploy finds cron jobs by running the top level, so this comes first and always.
Deno.cron("holdfast sweep", cronSchedule(Deno.env.get("CRON_MINUTES")), async () => {
  const { schedule, housekeeping, github } = await started.promise;
  await Promise.all([schedule.cronPass(), housekeeping.cronPass(), github.look()]);
});

const config = await readSettings(DEV);
const { log, flush } = createLog(
  config.logLevel,
  !Deno.stdout.isTerminal() ? "json" : Deno.noColor ? "text" : "colour",
  clock,
  writeOut,
);
for (const warning of config.warnings) log("warn", "config", { warning });
const store = await openStore(config, log);

const senders = new Map(
  Array.from(config.endpoints.values(), (endpoint) => [endpoint.id, senderFor(endpoint)]),
);

const owner = randomBytes(9).toString("base64url");
const metrics = new Metrics(config.endpoints);
const telemetry = await loadTelemetry(Deno.env.get("OTEL_DENO"), config.endpoints);
const live = new LiveEvents({
  store,
  clock,
  owner,
  onError: ({ message }) => log("warn", "live_events", { message }),
});

const relay = createRelay({
  config,
  store,
  transport: telemetry.transport(
    transportOnFirstUse({ privateTargets: config.privateTargets, clock }),
  ),
  senderOf: (endpoint) => senders.get(endpoint)!,
  fingerprintOf: (targetUrl) => createHash("sha256").update(targetUrl).digest("hex").slice(0, 16),
  clock,
  afterWrites,
  random: Math.random,
  nextId: monotonicFactory(pooledFractions()),
  owner,
  observe: tellAll([logEvents(log), metrics.observe, live.observe, telemetry.observe]),
  log,
});

serve(
  { hostname: config.host, port: config.port, onListen: (address) => greet(config, address) },
  telemetry.handler(createApp(relay, config, { live, metrics })),
  {
    refuse() {
      relay.refuse();
      live.stop();
    },
    stop: () => relay.stop(),
  },
  () => {
    log("info", "stopped");
    flush();
    store.kv.close();
  },
);
relay.start();
started.resolve(relay);

function greet({ endpoints, adminToken }: Config, { hostname, port }: Deno.NetAddr): void {
  log("info", "listening", { host: hostname, port, endpoints: endpoints.size });
  flush();
  const [first] = endpoints.keys();
  if (DEV) console.log(devGreeting(`http://${hostname}:${port}`, first, adminToken ?? ""));
}
