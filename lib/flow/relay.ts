import type { Config } from "../config.ts";
import { isRelayLane } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import type { AfterWrites, Clock, Log, NextId, Observe, Random } from "../ports.ts";
import type { Store } from "../store/kv.ts";
import { withReadFaults } from "../store/reads.ts";
import { type Sender, senderFor } from "../verify/sender.ts";
import { ClockWatch } from "./clock_watch.ts";
import { Drain } from "./drain.ts";
import { DueTimes } from "./due_times.ts";
import { Faults } from "./faults.ts";
import { Housekeeping } from "./housekeeping.ts";
import { Knocker } from "./knock.ts";
import { type Lane, Lanes } from "./lanes.ts";
import { QueueWaker } from "./queue_waker.ts";
import { sourcesOf } from "./recover/source.ts";
import { Watchdog } from "./recover/watchdog.ts";
import { RelayLanes, storedEndpoint } from "./relay_lanes.ts";
import { ReplayJobs } from "./replay_jobs.ts";
import { Schedule } from "./schedule.ts";
import { Timeouts } from "./timeouts.ts";
import type { Transport } from "./transport.ts";
import { Work } from "./work.ts";

/** What a relay is made of. Only `main.ts` and tests make real ones. */
export interface RelayParts {
  config: Pick<Config, "endpoints" | "leaseMs" | "scheduler" | "github" | "publicUrl" | "relay">;
  store: Store;
  transport: Transport;
  senderOf: (endpoint: string) => Sender;
  /** A short text that is the same for equal target URLs and does not tell them. */
  fingerprintOf: (targetUrl: string) => string;
  clock: Clock;
  afterWrites: AfterWrites;
  random: Random;
  nextId: NextId;
  /** Names this process in leases. */
  owner: string;
  observe: Observe;
  log: Log;
}

export type Relay = ReturnType<typeof createRelay>;

/** Of the time to stop, so much is left for what follows the attempts. */
const STOP_RESERVE_MS = 1_000;

/** Puts the parts together. Nothing runs before `start`. */
export function createRelay(given: RelayParts) {
  const store: Store = { ...given.store, kv: withReadFaults(given.store.kv) };
  const parts = { ...given, store };
  const {
    config: { endpoints, leaseMs, scheduler, github: settings, publicUrl, relay: relayMode },
    clock,
    transport,
    owner,
    log,
  } = parts;
  let stopping = false;
  const faults = new Faults();
  const observe: Observe = (event) => {
    faults.note(event);
    parts.observe(event);
  };
  const lanes = new Lanes(
    store,
    endpoints.values(),
    parts.fingerprintOf,
    observe,
    (id) => storedEndpoint(store, relayMode, id),
  );
  const relaySender = relayMode && senderFor(relayMode.endpoint);
  const senderOf = (endpoint: string) =>
    relaySender !== undefined && isRelayLane(endpoint) ? relaySender : parts.senderOf(endpoint);
  const work = new Work(clock, leaseMs);
  const knocker = new Knocker({
    lanes,
    transport,
    clock,
    owner,
    wake: (lane) => schedule.wakeLane(lane),
  });
  const clockWatch = new ClockWatch(clock);
  const onDue = (lane: Lane, atMs: number) => schedule.lookAt(lane, atMs);
  const drain = new Drain({
    ...parts,
    senderOf,
    observe,
    lanes,
    work,
    leaseMs,
    dueTimes: new DueTimes({ store, lanes, work, clock, clockWatch, leaseMs, onDue }),
    onDue,
    onOpen: (lane) => knocker.watch(lane),
  });
  const queue = new QueueWaker(store, scheduler, clock, log);
  const relayLanes = new RelayLanes({
    store,
    clock,
    lanes,
    observe,
    settings: relayMode,
    wake: (lane) => schedule.wakeLane(lane),
  });
  const schedule = new Schedule({ drain, lanes, work, clock, clockWatch, queue, relayLanes });
  const housekeeping = new Housekeeping({ store, clock, endpoints, relay: relayMode, observe });
  const jobs = new ReplayJobs({ store, lanes, schedule, clock, log, owner });
  const github = new Watchdog({
    sources: sourcesOf(endpoints.values(), settings),
    settings,
    publicUrl,
    store,
    clock,
    log,
    owner,
    isStoreHealthy: () => faults.recent(clock.nowMs()).count === 0,
  });

  /** Accepts and claims nothing more from now on. */
  function refuse(): void {
    stopping = true;
    work.refuse();
  }

  /**
   * Ends the attempts: those that take longer than the grace are called off and given back.
   * `released` resolves when no further one can begin: before that, idle says nothing.
   */
  async function endAttempts(released: Promise<void>, graceMs: number): Promise<void> {
    await Promise.race([released.then(() => work.whenIdle()), pause(clock, graceMs)]);
    for (const held of work.held()) held.abort.abort();
    await Promise.race([work.whenIdle(), pause(clock, STOP_RESERVE_MS / 2)]);
    await Promise.all(work.held().map((held) => held.release(clock.nowMs())));
    work.close();
  }

  return {
    ...parts,
    senderOf,
    observe,
    faults,
    relayMode,
    relayLanes,
    housekeeping,
    endpoints,
    lanes,
    work,
    drain,
    queue,
    schedule,
    jobs,
    github,
    timeouts: new Timeouts(clock),
    unanswered: new Set<string>(),
    isStopping: () => stopping,
    start(): void {
      schedule.start();
      housekeeping.start();
      jobs.look();
      github.start();
    },
    refuse,
    /** Stops within `LIMITS.stopMs`; what is under way is finished or given back. */
    async stop(): Promise<void> {
      refuse();
      const released = schedule.stop();
      knocker.stop();
      housekeeping.stop();
      const graceMs = LIMITS.stopMs - STOP_RESERVE_MS;
      await Promise.all([
        github.stop(),
        Promise.race([Promise.all([released, jobs.stop()]), pause(clock, graceMs)]),
        endAttempts(released, graceMs),
      ]);
      await transport.close();
    },
  };
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
