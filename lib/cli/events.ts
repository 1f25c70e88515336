import { createParser } from "eventsource-parser";
import type { Client } from "./client.ts";

/** A stream without a sign of life for so long is dead: the relay gives one every 15 s. */
const SILENCE_MS = 45_000;

/** Events as they come over one connection, until it ends. `onId` hears how far it came. */
export async function* eventsOf(
  client: Client,
  lastEventId: string | undefined,
  onId: (id: string) => void,
): AsyncGenerator<string> {
  const silent = new AbortController();
  const response = await client.open("/events", {
    headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
    signal: silent.signal,
  });
  const ready: string[] = [];
  const parser = createParser({ onId, onEvent: ({ data }) => ready.push(data) });
  let timer = setTimeout(() => silent.abort(), SILENCE_MS);
  try {
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), SILENCE_MS);
      parser.feed(text);
      yield* ready.splice(0);
    }
  } finally {
    clearTimeout(timer);
    silent.abort();
  }
}
