import assert from "node:assert/strict";
import { fc } from "../helpers/properties.ts";
import { LiveEvents } from "../../lib/observe/live/live.ts";
import { parsePosition, type Position, positionText } from "../../lib/observe/live/position.ts";
import { EventStream } from "../../lib/observe/live/stream.ts";
import type { RelayEvent } from "../../lib/ports.ts";
import { Committer } from "../../lib/store/commit.ts";
import { TestClock } from "../helpers/clock.ts";
import { within } from "../helpers/wait.ts";

/** Live events on a store in memory, with everything closed at the end. */
class Stage implements AsyncDisposable {
  readonly #live: LiveEvents[] = [];
  readonly #clock = new TestClock();
  readonly errors: Error[] = [];

  private constructor(readonly kv: Deno.Kv) {}

  static async open(): Promise<Stage> {
    return new Stage(await Deno.openKv(":memory:"));
  }

  /** One more process, on the store or on another one. */
  process(owner: string, heartbeatMs?: number, kv: Deno.Kv = this.kv): LiveEvents {
    const clock = this.#clock;
    const store = { kv, committer: new Committer(kv, clock), clock };
    const onError = (error: Error) => this.errors.push(error);
    const live = new LiveEvents({ store, clock, owner, onError, heartbeatMs });
    this.#live.push(live);
    return live;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const live of this.#live) {
      live.stop();
      await live.flush();
    }
    this.#clock[Symbol.dispose]();
    this.kv.close();
  }
}

const event = (n: number, eventId = `event-${n}`): RelayEvent => ({
  type: "accepted",
  atMs: 1_700_000_000_000 + n,
  endpoint: "demo",
  deliveryId: `delivery-${n}`,
  eventId,
  status: "accepted",
  ms: 1,
});

/** Reads a stream as text until it ends or one of its parts is `enough`. */
async function readText(stream: EventStream, enough: (part: string) => boolean): Promise<string> {
  let text = "";
  for await (const part of stream.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (enough(part)) break;
  }
  return text;
}

/** Says `true` at the nth delivery. */
function nth(n: number): (part: string) => boolean {
  let seen = 0;
  return (part) => (seen += deliveriesIn(part).length) >= n;
}

const deliveriesIn = (text: string): string[] =>
  [...text.matchAll(/"deliveryId":"([^"]+)"/g)].map(([, id]) => id);
const lastIdIn = (text: string): string => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? "";

Deno.test("a quiet stream gives signs of life", async () => {
  await using stage = await Stage.open();
  const stream = new EventStream();
  stream.onCancel(await stage.process("one", 20).listen(stream));
  const text = readText(stream, (part) => part.includes(": heartbeat\n\n"));
  assert.match(await within(text, { what: "a heartbeat" }), /heartbeat/);
});

Deno.test("a listener that does not read is cut off, and the others hear on", async () => {
  await using stage = await Stage.open();
  const live = stage.process("one");
  const [lazy, eager] = [new EventStream(), new EventStream()];
  let gone = false;
  await live.listen(lazy);
  lazy.onCancel(() => gone = true);
  await live.listen(eager);
  const all = readText(eager, (text) => text.includes("delivery-3999"));
  for (let n = 0; n < 4_000; n++) {
    live.observe(event(n, "x".repeat(200)));
    if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  assert.equal(deliveriesIn(await within(all, { what: "the last event" })).length, 4_000);
  assert(gone, "the lazy one still listens");
  assert.equal(lazy.write("more"), false);
});

Deno.test("what was missed may be more than a stream holds", async () => {
  await using stage = await Stage.open();
  const [one, two] = [stage.process("one"), stage.process("two")];
  const first = new EventStream();
  const greeting = readText(first, (text) => text.includes("\n\n"));
  const leave = await one.listen(first);
  const position = parsePosition(lastIdIn(await greeting));
  leave();
  const long = "x".repeat(1_000);
  for (let n = 0; n < 1_500; n++) (n % 2 === 0 ? one : two).observe(event(n, long));
  await Promise.all([one.flush(), two.flush()]);

  const again = new EventStream();
  again.onCancel(await two.listen(again, position));
  const text = await within(
    readText(again, nth(1_500)),
    { what: "all missed events" },
  );
  assert.equal(new Set(deliveriesIn(text)).size, 1_500);
  assert.deepEqual(stage.errors, []);
});

Deno.test("events told while a listener catches up come after those it missed, each once", async () => {
  await using stage = await Stage.open();
  const live = stage.process("one");
  const first = new EventStream();
  const leave = await live.listen(first);
  leave();
  for (let n = 0; n < 300; n++) live.observe(event(n));
  const again = new EventStream();
  const read = readText(again, (text) => text.includes("delivery-599"));
  const listening = live.listen(again, parsePosition("one.0"));
  for (let n = 300; n < 600; n++) live.observe(event(n));
  again.onCancel(await listening);
  const ids = deliveriesIn(await within(read, { what: "the last event" }));
  assert.deepEqual(ids, Array.from({ length: 600 }, (_, n) => `delivery-${n}`));
});

Deno.test("a store that is gone refuses a listener and leaves none behind", async () => {
  await using stage = await Stage.open();
  const closed = await Deno.openKv(":memory:");
  closed.close();
  const cut = stage.process("one", undefined, closed);
  await assert.rejects(cut.listen(new EventStream()), { name: "StoreUnavailable" });
  assert.equal(cut.listeners, 0);
});

Deno.test("a position survives its way through a client", () => {
  const owner = fc.stringMatching(/^[A-Za-z0-9_-]{12}$/);
  const entry = fc.tuple(owner, fc.nat());
  fc.assert(fc.property(fc.array(entry, { minLength: 1, maxLength: 20 }), (entries) => {
    const position: Position = new Map(entries);
    assert.deepEqual(parsePosition(positionText(position)), position);
  }));
});

Deno.test("a text that is no position is taken for none", async (t) => {
  for (const text of ["", "nonsense", "a.b.c", "owner.-1", "~", "a.1~", "x".repeat(5_000)]) {
    await t.step(JSON.stringify(text.slice(0, 20)), () => {
      assert.equal(parsePosition(text), undefined);
    });
  }
});

Deno.test("a listener leaves nothing running behind", async () => {
  await using stage = await Stage.open();
  const live = stage.process("one", 10);
  const leave = await live.listen(new EventStream());
  leave();
});
