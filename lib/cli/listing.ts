import { InvalidArgumentError } from "commander";
import type { Client } from "./client.ts";
import { answer, word } from "./look.ts";
import type { Session } from "./session.ts";
import type { DeliveryView, PageView } from "./shapes.ts";
import { table } from "./table.ts";
import { clipped, safe } from "./text.ts";
import { relative } from "./time.ts";

/** The most the API gives in one page. */
const PAGE = 500;
const EVENT_WIDTH = 40;

export type ListQuery = Readonly<Record<string, string | undefined>>;

/** The option `--limit`. */
export function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It is not a whole number from 1 on.");
}

/** Prints up to `limit` deliveries, newest first, page by page. */
export async function printDeliveries(
  session: Session,
  query: ListQuery,
  limit: number,
): Promise<void> {
  const { client, out } = session;
  let shown = 0;
  for await (const items of pages(client, query, limit)) {
    if (out.json) items.forEach((item) => out.value(item));
    else out.text(deliveryTable(session, items));
    shown += items.length;
  }
  if (shown === 0 && !out.json) out.text("none\n");
}

/** Pages of a list until `limit` items are there or the list ends. */
async function* pages(
  client: Client,
  query: ListQuery,
  limit: number,
): AsyncGenerator<DeliveryView[]> {
  let left = limit;
  let cursor: string | undefined;
  do {
    const page: PageView<DeliveryView> = await client.call("/deliveries", {
      query: { ...query, limit: String(Math.min(left, PAGE)), cursor },
    });
    // A page may be empty and still not be the last one.
    if (page.items.length > 0) yield page.items;
    left -= page.items.length;
    cursor = page.cursor ?? undefined;
  } while (left > 0 && cursor !== undefined);
}

function deliveryTable({ out, io }: Session, items: readonly DeliveryView[]): string {
  const nowMs = io.nowMs();
  const rows = items.map((delivery) => [
    safe(delivery.id),
    word(delivery.state),
    safe(delivery.endpoint),
    clipped(safe(delivery.eventId), EVENT_WIDTH),
    relative(delivery.acceptedAt, nowMs),
    String(delivery.attemptCount),
    lastOf(delivery),
    delivery.state === "pending" && delivery.dueAt ? relative(delivery.dueAt, nowMs) : "",
  ]);
  const head = ["ID", "STATE", "ENDPOINT", "EVENT", "ACCEPTED", "TRIES", "LAST", "NEXT"];
  return table(head, rows, out.paint);
}

/** The last answer, and why the delivery is dead where it is. */
function lastOf({ attempts, reason }: DeliveryView): string {
  const last = attempts.at(-1);
  return [last === undefined ? "" : answer(last), safe(reason ?? "")].join(" ").trim();
}
