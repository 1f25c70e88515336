import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { test } from "../helpers/group.ts";
import { statusOf } from "../helpers/operator.ts";
import { accept } from "../helpers/post.ts";
import { freePort } from "../helpers/ports.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import { jsonLines, spawnCli } from "./cli.ts";

/** A live view in a child process that ends by itself. */
class Tail implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #read: Promise<void>[];
  out = "";
  err = "";

  constructor(relay: Relay, args: string[]) {
    this.#child = spawnCli(relay, ["tail", ...args]);
    this.#read = [
      this.#collect(this.#child.stdout, (text) => this.out += text),
      this.#collect(this.#child.stderr, (text) => this.err += text),
    ];
  }

  get ended(): Promise<number> {
    return Promise.all(this.#read).then(async () => (await this.#child.status).code);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // Has ended by itself.
    }
    await this.#child.stdin.close();
    await this.ended;
  }

  async #collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>, take: (text: string) => void) {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) take(text);
  }
}

/** Pauses and resumes a lane until the view shows it: then it misses nothing more. */
async function listening(relay: Relay, tail: Tail): Promise<void> {
  await until(async () => {
    for (const action of ["pause", "resume"]) {
      await statusOf(relay.api(`/endpoints/quiet/${action}`, { method: "POST" }));
    }
    return tail.out.includes('"quiet"');
  }, { what: () => `the view to begin; it wrote ${tail.out}${tail.err}` });
}

test("a live view shows what happens and ends after the wanted number", async () => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  await using tail = new Tail(relay, ["--endpoint", "demo", "--type", "settled", "--count", "1"]);
  let last = "";
  await until(async () => {
    last = (await accept(relay, "demo")).deliveryId;
    return tail.out !== "";
  }, { what: () => `an event; it wrote ${tail.err}` });
  assert.equal(await tail.ended, 0);
  assert.match(tail.out, /^\d\d:\d\d:\d\d\.\d{3} settled {2}demo delivered \w{26}\n$/);
  assert.notEqual(last, "");
});

test("a live view comes back after a restart of the relay and misses nothing", async () => {
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [endpoint("demo", sink), endpoint("quiet", sink)],
    env: { PORT: String(freePort()) },
  });
  await using tail = new Tail(relay, ["--json"]);
  await listening(relay, tail);
  const before = await accept(relay, "demo");
  await until(() => tail.out.includes(before.deliveryId), { what: "the event before" });
  await relay.restart();
  const after = await accept(relay, "demo");
  await until(() => tail.out.includes(after.deliveryId), {
    what: () => `the event after; it wrote ${tail.err}`,
    withinMs: 20_000,
  });
  assert.match(tail.err, /connection lost/);
  const accepted = jsonLines(tail.out).filter(({ type }) => type === "accepted");
  assert.deepEqual(accepted.map(({ deliveryId }) => deliveryId), [
    before.deliveryId,
    after.deliveryId,
  ]);
});
