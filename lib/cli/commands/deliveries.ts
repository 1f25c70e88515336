import { examples } from "../examples.ts";
import { apiFilters, type Filters, withFilters } from "../filters.ts";
import { printDeliveries, wholeNumber } from "../listing.ts";
import type { AddCommand } from "../session.ts";

interface Options extends Filters {
  eventId?: string;
  limit: number;
}

const DEFAULT_LIMIT = 50;

export const addDeliveries: AddCommand = (program, session) => {
  const command = program.command("deliveries").description("deliveries, newest first");
  withFilters(command, "pending, in_flight, delivered or dead")
    .option("--event-id <id>", "of this event")
    .option("--limit <n>", "at most so many", wholeNumber, DEFAULT_LIMIT)
    .addHelpText(
      "after",
      examples(
        "deliveries --endpoint github --state dead --since 2h",
        "deliveries --event-id evt_1NG8Du2eZvKYlo2C",
        "deliveries --state pending --limit 1000 --json | jq .id",
      ),
    )
    .action(async ({ eventId, limit, ...filters }: Options) => {
      const opened = session();
      const query = { ...apiFilters(filters, opened.io.nowMs()), event_id: eventId };
      await printDeliveries(opened, query, limit);
    });
};
