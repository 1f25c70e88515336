import { cancel, replay } from "../../lib/flow/operate/deliveries.ts";
import { operateLane } from "../../lib/flow/operate/lanes.ts";
import { startReplays } from "../../lib/flow/operate/replays.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Kv } from "../../lib/store/kv.ts";
import { keys } from "../../lib/store/keys.ts";
import { examine } from "../../lib/store/doctor.ts";
import { Dice } from "./dice.ts";
import { Judge } from "./judge/judge.ts";
import { AFTERLIFE_MS, answerIsDurable, judgeOutcome, judgePruned } from "./judge/outcome.ts";
import { recoveryBoundMs } from "./judge/promptness.ts";
import { clocksStepped, laneRow, recordsOf, type Scene } from "./judge/scene.ts";
import { isOpen } from "../../lib/states.ts";
import { Database } from "./kv/database.ts";
import { openKv } from "./kv/handle.ts";
import type { Mode } from "./kv/weather.ts";
import type { Action, Plan } from "./plan.ts";
import { type Answered, Posts } from "./posts.ts";
import { Process, STOP_WAIT_MS, type Surroundings } from "./process.ts";
import { ENDPOINTS, endpointsOf, LANES, originOf, type TargetName } from "./settings.ts";
import { Targets } from "./targets.ts";
import { World } from "./world.ts";

/** A promise that was broken. */
export interface Violation {
  rule: string;
  detail: string;
  /** The delivery that it is about. */
  about?: string;
}

export interface Report {
  violations: Violation[];
  story: readonly string[];
  /** How long the world turned, in virtual milliseconds. */
  elapsedMs: number;
}

const MOST_VIOLATIONS = 20;

/** Runs a plan to its end and judges it. Nothing here depends on real time or chance. */
export function simulate(
  plan: Plan,
  tamper: (kv: Kv) => Kv = (kv) => kv,
  weather: Mode = "fair",
): Promise<Report> {
  return new Simulation(plan, tamper, weather).run();
}

class Simulation {
  readonly #world = new World();
  readonly #violations: Violation[] = [];
  readonly #surroundings: Surroundings;
  readonly #scene: Scene;
  readonly #judge: Judge;
  readonly #posts: Posts;
  readonly #slots: (Process | undefined)[];
  readonly #starts: number[];
  readonly #targetNames = Object.fromEntries(ENDPOINTS.map((id) => [id, "one"])) as Record<
    typeof ENDPOINTS[number],
    TargetName
  >;

  constructor(
    readonly plan: Plan,
    tamper: (kv: Kv) => Kv,
    weather: Mode,
  ) {
    const world = this.#world;
    const dice = new Dice(plan.seed ^ 0x5eed);
    const database = new Database(world, dice);
    database.weather.mode = weather;
    const targets = new Targets(world, dice, {
      onSend: (attempted) => this.#judge.onSend(attempted),
      onHeard: (heard) => this.#judge.onHeard(heard),
    });
    this.#surroundings = { world, database, targets, dice, leaseMs: plan.leaseMs, tamper };
    this.#scene = {
      plan,
      world,
      database,
      targets,
      endedAtMs: new Map(),
      killedAtMs: new Map(),
      storedAtMs: new Map(),
      pruned: new Map(),
      calmAtMs: undefined,
      steps: [],
      violated: (rule, detail, about) => this.#violated({ rule, detail, about }),
    };
    this.#judge = new Judge(this.#scene);
    database.watch((applied, by) => this.#judge.onCommit(applied, by as Process));
    this.#posts = new Posts(
      world,
      dice,
      () => this.#alive(),
      (answered) => this.#heard(answered),
      (error) => this.#violated({ rule: "crash", detail: error.message }),
    );
    this.#slots = Array.from({ length: plan.processes });
    this.#starts = this.#slots.map(() => 0);
  }

  async run(): Promise<Report> {
    const { plan } = this;
    for (const slot of this.#slots.keys()) this.#start(slot);
    for (const action of plan.actions) {
      this.#world.after(action.atMs, () => this.#act(action));
    }
    await this.#world.run(this.#world.nowMs + plan.chaosMs, () => this.#isBroken());
    this.#calm();
    const stepsMs = plan.actions.reduce(
      (sum, a) => a.do === "clock" ? sum + Math.abs(a.byMs) : sum,
      0,
    );
    // A step is noticed within a sweep; whose lease lies ahead is known a lease later.
    const noticedMs = stepsMs > 0 ? LIMITS.sweepMs + plan.leaseMs : 0;
    const untilMs = this.#world.nowMs + recoveryBoundMs(plan) + noticedMs;
    await this.#world.run(untilMs, () => this.#isBroken() || this.#isSettled());
    if (!this.#isBroken()) await this.#judgeEnd();
    if (!this.#isBroken() && plan.goesOn === true && stepsMs === 0) await this.#goOn();
    const { story, elapsedMs } = this.#world;
    return { violations: this.#violations, story, elapsedMs };
  }

  #start(slot: number): void {
    if (this.#slots[slot]?.alive) return;
    const name = `p${slot}.${++this.#starts[slot]}`;
    const { dice, world } = this.#surroundings;
    const aheadMs = dice.int(0, this.plan.skewMs);
    const process = new Process(
      name,
      endpointsOf(this.#targetNames),
      this.#surroundings,
      aheadMs,
      (how) => {
        this.#scene.endedAtMs.set(name, world.nowMs);
        if (how === "stopped") this.#judge.onStopped(process);
        else this.#scene.killedAtMs.set(name, world.nowMs);
        this.#posts.ended(process);
      },
    );
    this.#slots[slot] = process;
    world.tell(`${name} starts`);
    process.start();
    this.#cron(process);
  }

  /** The platform's cron: each minute, late, and not caring whether the last one is through. */
  #cron(process: Process): void {
    const { world, dice } = this.#surroundings;
    world.after(60_000 + dice.int(0, 20_000), () => {
      process.relay.schedule.cronPass();
      this.#cron(process);
    }, process);
  }

  #alive(): Process[] {
    return this.#slots.filter((one) => one?.alive === true) as Process[];
  }

  #act(action: Action): void {
    if (this.#scene.calmAtMs !== undefined) return;
    const { world, database, targets } = this.#surroundings;
    if (action.do !== "cron") world.tell(`- ${describe(action)}`);
    const process = "slot" in action ? this.#slots[action.slot] : undefined;
    const living = process?.alive ? process : undefined;
    switch (action.do) {
      case "post":
        return this.#posts.post(action.endpoint, action.event, action.bytes, living);
      case "kill":
        living?.kill(action.steps);
        return this.#startLater(action.slot, action.downMs);
      case "stop":
        return this.#stop(action, living);
      case "target":
        return targets.behave(originOf(action.endpoint, action.target), action.behaviour);
      case "store":
        database.weather.mode = action.mode;
        world.after(action.forMs, () => {
          if (database.weather.mode === action.mode) database.weather.mode = "fair";
        });
        return;
      case "clock":
        if (living === undefined) return;
        living.clockAheadMs += action.byMs;
        this.#scene.steps.push({ atMs: world.nowMs, byMs: action.byMs });
        return;
      case "retarget":
        this.#targetNames[action.endpoint] = action.target;
        return;
      default:
        if (living !== undefined) this.#operate(action, living);
    }
  }

  /** What an operator asks for; a store outage may refuse it. */
  #operate(action: Action, { relay }: Process): void {
    const refused = () => {};
    switch (action.do) {
      case "lane":
        return void operateLane(relay, action.endpoint, action.action).catch(refused);
      case "replay":
      case "cancel": {
        const ids = LANES.flatMap((endpoint) => recordsOf(this.#scene, endpoint))
          .filter(({ state }) => action.do === "cancel" ? state === "pending" : !isOpen(state));
        const id = ids[action.nth % ids.length]?.id;
        if (id === undefined) return;
        return void (action.do === "replay" ? replay(relay, id) : cancel(relay, id)).catch(refused);
      }
      case "job":
        return void startReplays(relay, { state: action.state }).catch(refused);
      case "prune":
        return void relay.housekeeping.pass();
      case "cron":
        relay.schedule.cronPass();
    }
  }

  #stop({ slot, steps = 0, downMs }: Action & { do: "stop" }, living: Process | undefined): void {
    living?.stop(steps);
    const stoppedMs = LIMITS.stopMs + (steps > 0 ? STOP_WAIT_MS : 0);
    this.#startLater(slot, stoppedMs + downMs);
  }

  #startLater(slot: number, delayMs: number): void {
    this.#world.after(delayMs, () => this.#start(slot));
  }

  /** Faults stop: everything runs, every target is well, no operator holds anything back. */
  #calm(): void {
    const { world, database, targets } = this.#surroundings;
    world.tell("- all faults stop");
    this.#scene.calmAtMs = world.nowMs;
    this.#judge.onCalm();
    database.weather.mode = "perfect";
    targets.allWell();
    for (const process of this.#alive()) process.spare();
    for (const slot of this.#slots.keys()) this.#start(slot);
    // A process that is just ending cannot be asked; its successor is.
    world.after(6_000, () => {
      for (const slot of this.#slots.keys()) this.#start(slot);
      for (const lane of LANES) this.#release(lane);
    });
    // A pause of before may land late.
    world.after(25_000, () => LANES.forEach((lane) => this.#release(lane)));
  }

  /**
   * An operator lets a lane go, and asks again where a commit of before still hangs. Only a
   * lane that is held: any other has to be found and woken by the relay itself.
   */
  #release(endpoint: string): void {
    const row = laneRow(this.#scene, endpoint);
    if (row?.pausedAtMs === undefined && row?.health.status !== "disabled") return;
    const relay = this.#alive().find(({ stopping }) => !stopping)?.relay;
    if (relay === undefined) throw new Error("cannot end the simulation: no process is alive");
    operateLane(relay, endpoint, "resume")
      .then(() => operateLane(relay, endpoint, "enable"))
      .catch(() => this.#world.after(1_000, () => this.#release(endpoint)));
  }

  #heard(answered: Answered): void {
    const { world } = this.#surroundings;
    const { event, result, by } = answered;
    this.#judge.onAnswer(answered);
    if (result.kind !== "stored") {
      const code = result.kind === "refused" ? result.problem.code : result.kind;
      return world.tell(`${by.name} answers ${event.id}: ${code}`);
    }
    world.tell(`${by.name} answers ${event.id}: ${result.status} ${result.deliveryId}`);
    event.answered.add(result.deliveryId);
    answerIsDurable(this.#scene, event, result.deliveryId);
  }

  #isSettled(): boolean {
    if (this.#posts.open > 0) return false;
    if (this.#surroundings.database.rows.under(keys.allDues()).next().done !== true) return false;
    for (const { value } of this.#surroundings.database.rows.under(keys.jobs())) {
      if ((value as { state: string }).state === "running") return false;
    }
    return this.#alive().every(({ relay }) => relay.work.inFlight === 0);
  }

  async #judgeEnd(): Promise<void> {
    const { reopenedAtMs, counted } = this.#judge;
    if (this.#posts.open > 0) {
      this.#violated({ rule: "hangs", detail: "a post was never answered" });
    }
    judgeOutcome(this.#scene, LANES, {
      events: this.#posts.events.values(),
      reopenedAtMs,
      counted,
    });
    await this.#examineStore();
  }

  /** Nothing is done any more, but time passes. */
  async #goOn(): Promise<void> {
    const { world } = this.#surroundings;
    await world.run(world.nowMs + AFTERLIFE_MS, () => this.#isBroken());
    if (this.#isBroken()) return;
    judgePruned(this.#scene, LANES);
    await this.#examineStore();
  }

  /** The doctor has the last word. */
  async #examineStore(): Promise<void> {
    const { world, database } = this.#surroundings;
    const kv = openKv(database, { name: "doctor", alive: true });
    let over = false;
    const examined = (async () => {
      for await (const { code, detail } of examine(kv, world.nowMs)) {
        // By the doctor's clock a mark of a clock that was wrong may be old at once.
        if (code === "staging_old" && clocksStepped(this.#scene)) continue;
        this.#violated({ rule: `doctor: ${code}`, detail });
      }
    })().finally(() => over = true);
    await world.run(world.nowMs + 3_600_000, () => over);
    await examined;
  }

  #isBroken(): boolean {
    return this.#violations.length > 0;
  }

  #violated(violation: Violation): void {
    if (this.#violations.length >= MOST_VIOLATIONS) return;
    this.#violations.push(violation);
    this.#world.tell(`! ${violation.rule}: ${violation.detail} (${violation.about ?? "-"})`);
  }
}

/** An action in a few words. */
export function describe({ atMs: _, do: verb, ...rest }: Action): string {
  return `${verb} ${Object.entries(rest).map(([name, value]) => `${name}=${value}`).join(" ")}`;
}
