import { createParser } from "eventsource-parser";
import type { Relay } from "../helpers/program.ts";
import { until } from "../helpers/wait.ts";

export interface LiveEvent {
  id?: string;
  type: string;
  data: Record<string, unknown>;
}

/** A listener on `/api/v1/events` that keeps all it hears. */
export class Listener implements AsyncDisposable {
  readonly events: LiveEvent[] = [];
  /** Everything as it came. */
  text = "";
  lastEventId: string | undefined;
  /** Settles once the stream has ended, from whichever side. */
  readonly ended: Promise<void>;
  readonly #reader: ReadableStreamDefaultReader<string>;

  private constructor(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
    this.ended = this.#collect();
  }

  /** Connects and waits until events can no longer be missed. */
  static async open(relay: Relay, lastEventId?: string): Promise<Listener> {
    const headers: HeadersInit = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    return await Listener.#follow(await relay.api("/events", { headers }));
  }

  /** Connects as a browser with these cookies does. */
  static async openBySession(relay: Relay, cookie: string): Promise<Listener> {
    return await Listener.#follow(
      await fetch(`${relay.origin}/api/v1/events`, { headers: { cookie } }),
    );
  }

  static async #follow(response: Response): Promise<Listener> {
    if (response.status !== 200) throw new Error(`/events answered ${response.status}`);
    const listener = new Listener(response.body!);
    await until(() => listener.lastEventId, { what: "the first id of the stream" });
    return listener;
  }

  of(type: string): LiveEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  /** Waits until an event has come that fits. */
  heard(fits: (event: LiveEvent) => boolean, what: string): Promise<LiveEvent> {
    return until(() => this.events.find(fits), {
      what: () => `${what}; heard ${JSON.stringify(this.events.map(({ data }) => data))}`,
    });
  }

  settled(deliveryId: string): Promise<LiveEvent> {
    return this.heard(
      ({ type, data }) => type === "settled" && data.deliveryId === deliveryId,
      `the end of ${deliveryId}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel().catch(() => {});
    await this.ended;
  }

  async #collect(): Promise<void> {
    const parser = createParser({
      onId: (id) => this.lastEventId = id,
      onEvent: ({ id, event = "", data }) =>
        this.events.push({ id, type: event, data: JSON.parse(data) }),
    });
    try {
      for (let part = await this.#reader.read(); !part.done; part = await this.#reader.read()) {
        this.text += part.value;
        parser.feed(part.value);
      }
    } catch {
      // Cut off by the relay's end.
    }
  }
}
