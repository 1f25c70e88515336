import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { accept } from "../helpers/post.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { RawSocket } from "../helpers/raw.ts";
import { startSink } from "../helpers/sink.ts";
import { pause, until } from "../helpers/wait.ts";

/** The documented time is 30 s of silence; a loaded machine may be late. */
const CUT_WITHIN_MS = 45_000;
const MIB = 1_048_576;

const post = (path: string, framing: string) =>
  `POST ${path} HTTP/1.1\r\nHost: h\r\n${framing}\r\n\r\n`;
const HEAD = post("/hook/demo", `X-Long: ${"x".repeat(3_000)}\r\nContent-Length: 2`);
const FORM = "Content-Type: application/x-www-form-urlencoded";

/** Bodies that are begun and stand still: many wait for their next byte, none for ever. */
const STANDING: [name: string, count: number, start: string][] = [
  ["in a chunk", 20, post("/hook/demo", "Transfer-Encoding: chunked") + "5\r\nab"],
  ["between chunks", 20, post("/hook/demo", "Transfer-Encoding: chunked") + "2\r\nab\r\n"],
  ["before a first byte", 20, post("/hook/demo", "Content-Length: 9")],
  [
    "in a body large enough to be staged",
    10,
    post("/hook/demo", "Content-Length: 9000000") + "x".repeat(MIB),
  ],
  ["in a form of the admin page", 20, post("/admin/sign-in", `${FORM}\r\nContent-Length: 9`) + "t"],
];

/** Connections that say too little, and stay. */
class Lurkers implements Disposable {
  readonly #sockets: RawSocket[] = [];
  readonly #drips: ReturnType<typeof setInterval>[] = [];

  async add(port: number, count: number, start: string): Promise<RawSocket[]> {
    const added: RawSocket[] = [];
    for (let n = 0; n < count; n++) {
      const socket = await RawSocket.connect(port);
      this.#sockets.push(socket);
      added.push(socket);
      await socket.send(start);
    }
    return added;
  }

  /** Sends one byte after the other, each some time after the last. */
  drip(sockets: readonly RawSocket[], text: string, everyMs: number): void {
    let at = 0;
    this.#drips.push(setInterval(() => {
      const byte = text[at++];
      if (byte === undefined) return;
      for (const socket of sockets) socket.trySend(byte);
    }, everyMs));
  }

  [Symbol.dispose](): void {
    for (const timer of this.#drips) clearInterval(timer);
    for (const socket of this.#sockets) socket[Symbol.dispose]();
  }
}

/** Posts at an even pace until `isOver`; every one must be accepted. */
async function neighbours(relay: Relay, isOver: () => boolean): Promise<number> {
  let posts = 0;
  while (!isOver()) {
    await accept(relay, "demo", { withinMs: 10_000 });
    posts++;
    await pause(100);
  }
  return posts;
}

group("two hundred connections that hardly speak", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  await accept(relay, "demo");
  const before = { sockets: relay.openSockets(), rssBytes: relay.rssBytes() };
  using lurkers = new Lurkers();
  const dripping = await lurkers.add(relay.port, 60, HEAD.slice(0, 20));
  lurkers.drip(dripping, HEAD.slice(20), 100);
  await lurkers.add(relay.port, 50, HEAD.slice(0, 40));
  const standing = [];
  for (const [name, count, start] of STANDING) {
    standing.push({ name, sockets: await lurkers.add(relay.port, count, start) });
  }
  let left = STANDING.length;

  await Promise.all([
    ...standing.map(({ name, sockets }) =>
      behaviour(`who stands still ${name} is answered 408 or cut`, async () => {
        try {
          const answers = await Promise.all(
            sockets.map((socket) => socket.response({ withinMs: CUT_WITHIN_MS })),
          );
          for (const answer of answers) assert([408, undefined].includes(answer?.status));
        } finally {
          left--;
        }
      })
    ),
    behaviour("who posts beside them is answered all the while", async () => {
      const posts = await neighbours(relay, () => left === 0);
      await until(() => sink.requests.length === posts + 1, { what: "all posts at the target" });
    }),
  ]);

  await behaviour("they cost little memory", () => {
    const grown = relay.rssBytes() - before.rssBytes;
    assert(grown < 100 * MIB, `memory grew by ${grown} bytes`);
    return Promise.resolve();
  });

  await behaviour("a head whose end comes at last is served, unless it was cut", async () => {
    lurkers[Symbol.dispose]();
    const [slow] = await lurkers.add(relay.port, 1, HEAD.slice(0, 40));
    await pause(200);
    await slow.send(`${HEAD.slice(40)}hi`);
    assert([202, undefined].includes((await slow.response())?.status));
  });

  await behaviour("once they are gone nothing of them is left", async () => {
    lurkers[Symbol.dispose]();
    await until(() => relay.openSockets() <= before.sockets + 5, {
      what: () => `sockets to close; ${relay.openSockets()} are open, ${before.sockets} were`,
    });
    assert.doesNotMatch(relay.output, /request_failed/);
  });
});
