import { examples } from "../examples.ts";
import { printDeliveries, wholeNumber } from "../listing.ts";
import type { AddCommand } from "../session.ts";

const DEFAULT_LIMIT = 50;

export const addDead: AddCommand = (program, session) => {
  program.command("dead")
    .argument("[endpoint]", "of this endpoint alone")
    .description("dead letters, newest first")
    .option("--limit <n>", "at most so many", wholeNumber, DEFAULT_LIMIT)
    .addHelpText("after", examples("dead", "dead github --json | jq .reason"))
    .action(async (endpoint: string | undefined, { limit }: { limit: number }) => {
      await printDeliveries(session(), { endpoint, state: "dead" }, limit);
    });
};
