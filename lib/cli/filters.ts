import type { Command } from "commander";
import { EXIT, Failure } from "./exit.ts";
import { instant } from "./time.ts";

/** Which deliveries a command means, as the person wrote it. */
export interface Filters {
  endpoint?: string;
  state?: string;
  reason?: string;
  since?: string;
  until?: string;
}

/** Adds the options that choose deliveries; the relay checks their words. */
export function withFilters(command: Command, states: string): Command {
  return command
    .option("--endpoint <id>", "of this endpoint")
    .option("--state <state>", states)
    .option("--reason <reason>", "why dead: rejected, redirect, exhausted, expired, cancelled")
    .option("--since <time>", "accepted at or after: ISO 8601, or how long ago (2h)")
    .option("--until <time>", "accepted before");
}

/** The filters as the API wants them. Throws `Failure` where a time is none. */
export function apiFilters({ since, until, ...words }: Filters, nowMs: number): Filters {
  return {
    ...words,
    ...since === undefined ? {} : { since: timeOption("--since", since, nowMs) },
    ...until === undefined ? {} : { until: timeOption("--until", until, nowMs) },
  };
}

/** A time option's value as ISO 8601. Throws `Failure` where it is no time. */
export function timeOption(name: string, text: string, nowMs: number): string {
  const iso = instant(text, nowMs);
  if (iso !== undefined) return iso;
  throw new Failure(
    EXIT.usage,
    `cannot use ${name}: it is neither an ISO 8601 time nor a duration such as 2h`,
  );
}
