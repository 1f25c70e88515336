/** How a run is to be made. */
export interface Options {
  /** Names of the scenarios to run. */
  only: readonly string[];
  rounds: number;
  /** Length of one measurement under load. */
  seconds: number;
  /** Body sizes of the throughput table, in bytes. */
  sizes: readonly number[];
  /** Deliveries in the backlog. */
  backlog: number;
  /** Deliveries waiting in the memory measurement. */
  waiting: number;
  /** Deliveries stored beforehand in the million measurement. */
  stored: number;
  /** Deliveries stored beforehand where pages are measured. */
  kept: number;
  leaseSeconds: number;
  /** Further flags for the program's runtime, such as a profiler's. */
  flags: readonly string[];
}

/** The size the targets are given for. */
export const BODY_BYTES = 2_000;

const FULL = {
  rounds: 3,
  seconds: 4,
  sizes: [500, BODY_BYTES, 8_000, 100_000, 1_000_000],
  backlog: 20_000,
  waiting: 100_000,
  stored: 1_000_000,
  kept: 100_000,
  leaseSeconds: 10,
};

const QUICK: typeof FULL = {
  rounds: 1,
  seconds: 2,
  sizes: [BODY_BYTES],
  backlog: 4_000,
  waiting: 10_000,
  stored: 20_000,
  kept: 5_000,
  leaseSeconds: 3,
};

const USAGE = `Usage: deno task bench [--quick] [--only name,name] [--cold] [--million]
  [--rounds n] [--seconds n] [--sizes bytes,bytes] [--backlog n] [--waiting n] [--stored n] [--kept n]
  [--flags "deno flags for the program"]`;

/**
 * Reads the command line. `regular` are the scenarios of a run that names none, `extra`
 * those that run only where they are asked for. Returns the usage where it is wrong.
 */
export function parseOptions(
  args: readonly string[],
  regular: readonly string[],
  extra: readonly string[],
): Options | string {
  const given = new Map<string, string>();
  for (let at = 0; at < args.length; at++) {
    const name = args[at].replace(/^--/, "");
    const isSwitch = name === "quick" || extra.includes(name);
    given.set(name, isSwitch ? "" : args[++at] ?? "");
  }
  const base = given.has("quick") ? QUICK : FULL;
  const asked = extra.filter((name) => given.has(name));
  const only = given.get("only")?.split(",") ?? (asked.length > 0 ? asked : regular);
  const number = (name: keyof typeof FULL & string) =>
    given.has(name) ? Number(given.get(name)) : base[name] as number;
  const options: Options = {
    only,
    rounds: number("rounds"),
    seconds: number("seconds"),
    sizes: given.get("sizes")?.split(",").map(Number) ?? base.sizes,
    backlog: number("backlog"),
    waiting: number("waiting"),
    stored: number("stored"),
    kept: number("kept"),
    leaseSeconds: base.leaseSeconds,
    flags: given.get("flags")?.split(" ") ?? [],
  };
  const known = new Set([...Object.keys(FULL), "quick", "only", "flags", ...extra]);
  const fine = [...given.keys()].every((name) => known.has(name)) &&
    only.every((name) => regular.includes(name) || extra.includes(name)) &&
    [...options.sizes, options.rounds, options.seconds].every((value) => value > 0);
  return fine ? options : `${USAGE}\nScenarios: ${[...regular, ...extra].join(", ")}`;
}
