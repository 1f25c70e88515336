import { cronMinutes } from "../config.ts";

/**
 * When cron comes by, for the text of `CRON_MINUTES`. Each minute where that cannot be used:
 * the job is registered before the settings are read, and those say what is wrong.
 */
export function cronSchedule(minutes: string | undefined): string {
  const { data: every = 1 } = cronMinutes.safeParse(minutes?.trim() || undefined);
  return every === 1 ? "* * * * *" : `*/${every} * * * *`;
}
