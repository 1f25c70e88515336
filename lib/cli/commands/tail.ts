import { eventsOf } from "../events.ts";
import { examples } from "../examples.ts";
import { EXIT, Failure } from "../exit.ts";
import { wholeNumber } from "../listing.ts";
import { answer, word } from "../look.ts";
import type { AddCommand, Session } from "../session.ts";
import type { EventView } from "../shapes.ts";
import { type Cell, cellText } from "../table.ts";
import { clipped, safe } from "../text.ts";

interface Options {
  endpoint?: string;
  type?: string;
  count?: number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const TYPE_WIDTH = 8;
const EVENT_WIDTH = 40;

export const addTail: AddCommand = (program, session) => {
  program.command("tail")
    .description("what happens, live, over all processes; reconnects and misses nothing")
    .option("--endpoint <id>", "of this endpoint alone")
    .option("--type <type>", "accepted, attempt, settled or lane alone")
    .option("--count <n>", "end after so many events", wholeNumber)
    .addHelpText("after", examples("tail", "tail --endpoint github --type settled --json"))
    .action((options: Options) => tail(session(), options));
};

async function tail(session: Session, { endpoint, type, count = Infinity }: Options) {
  let left = count;
  for await (const data of reconnecting(session)) {
    const event = JSON.parse(data) as EventView;
    if (endpoint !== undefined && event.endpoint !== endpoint) continue;
    if (type !== undefined && event.type !== type) continue;
    if (session.out.json) session.out.value(event);
    else session.out.text(lineOf(session, event));
    if (--left <= 0) return;
  }
}

/** Events for ever. A relay that was never reached is a failure; a lost one comes back. */
async function* reconnecting({ client, err }: Session): AsyncGenerator<string> {
  let lastEventId: string | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  const onId = (id: string) => {
    lastEventId = id;
    pauseMs = FIRST_PAUSE_MS;
  };
  for (;;) {
    try {
      yield* eventsOf(client, lastEventId, onId);
    } catch (error) {
      if (lastEventId === undefined || isFinal(error)) throw error;
    }
    err.text(`connection lost, again in ${pauseMs / 1_000} s\n`);
    await new Promise<void>((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
}

/** A token that is refused now will be refused again; a stopping relay may be replaced. */
const isFinal = (error: unknown) => error instanceof Failure && error.exit === EXIT.unauthorised;

function lineOf({ out }: Session, event: EventView): string {
  const { at, type, endpoint, deliveryId, eventId } = event;
  const words = [
    out.paint("dim", safe(at.slice(11, 23))),
    safe(type).padEnd(TYPE_WIDTH),
    safe(endpoint),
    ...whatHappened(event).map((cell) => cellText(cell, out.paint)),
    ...[deliveryId, eventId].map((text) => clipped(safe(text ?? ""), EVENT_WIDTH)),
  ];
  return `${words.filter((text) => text !== "").join(" ")}\n`;
}

function whatHappened(event: EventView): Cell[] {
  const { n, ms = 0, status, code, outcome = "", state, reason, change } = event;
  switch (event.type) {
    case "attempt":
      return [
        word(outcome),
        `#${n} ${answer({ status: status as number, code })} ${Math.round(ms)} ms`,
      ];
    case "settled":
      return [word(state ?? ""), safe(reason ?? "")];
    case "lane":
      return [word(change ?? "")];
    default:
      return [safe(String(status ?? ""))];
  }
}
