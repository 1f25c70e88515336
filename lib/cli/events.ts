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
  const headers: Record<string, string> = lastEventId === undefined
    ? {}
    : { "last-event-id": lastEventId };
  const { body } = await client.open("/events", { headers });
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  const ready: string[] = [];
  const parser = createParser({ onId, onEvent: ({ data }) => ready.push(data) });
  try {
    for (;;) {
      const { done, value } = await readInTime(reader);
      if (done) return;
      parser.feed(value);
      yield* ready.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** The next part; a silent connection reads as one that has ended. */
async function readInTime(
  reader: ReadableStreamDefaultReader<string>,
): Promise<ReadableStreamReadResult<string>> {
  const timer = setTimeout(() => reader.cancel().catch(() => {}), SILENCE_MS);
  try {
    return await reader.read();
  } finally {
    clearTimeout(timer);
  }
}
