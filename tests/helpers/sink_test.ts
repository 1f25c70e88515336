import assert from "node:assert/strict";
import { HANG_UP, inTurn, SILENCE } from "./answer.ts";
import { inParallel } from "./parallel.ts";
import { requestBytes } from "./post.ts";
import { exchange, RawSocket } from "./raw.ts";
import { startSink } from "./sink.ts";
import { test } from "./group.ts";
import { pause, until } from "./wait.ts";

test("a sink records the request as it was sent and answers 200", async () => {
  await using sink = startSink();
  const bytes = requestBytes(sink.port, "/in?b=%e9", {
    body: "abc",
    headers: { "X-L": "caf\xe9", "X-Two": ["1", "2"] },
  });
  const response = await exchange(sink.port, bytes);
  assert.equal(response?.status, 200);
  const [request] = sink.requests;
  assert.equal(request.line, "POST /in?b=%e9 HTTP/1.1");
  assert.equal(request.header("x-l"), "caf\xe9");
  assert.deepEqual(request.values("x-two"), ["1", "2"]);
  assert.equal(request.text, "abc");
});

test("a sink reads chunked requests and answers in turn on one connection", async () => {
  await using sink = startSink(inTurn(500, 204));
  using socket = await RawSocket.connect(sink.port);
  const chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  await socket.send(chunked);
  assert.equal((await socket.response())?.status, 500);
  await socket.send(chunked);
  assert.equal((await socket.response())?.status, 204);
  assert.equal(sink.connections, 1);
  assert.deepEqual(sink.bodies, ["abc", "abc"]);
});

test("a sink counts how many requests wait at the same time", async () => {
  await using sink = startSink({ delayMs: 50 });
  await inParallel(6, 3, () => exchange(sink.port, requestBytes(sink.port, "/")));
  assert.equal(sink.requests.length, 6);
  assert(sink.peak <= 3 && sink.peak >= 2, `peak is ${sink.peak}`);
});

test("a sink that hangs up gives no answer", async () => {
  await using sink = startSink(HANG_UP);
  assert.equal(await exchange(sink.port, requestBytes(sink.port, "/")), undefined);
});

test("a silent sink can be stopped, refuses, and opens again on its port", async () => {
  await using sink = startSink(SILENCE, { stops: true });
  const waiting = exchange(sink.port, requestBytes(sink.port, "/"));
  await until(() => sink.requests.length === 1, { what: "the request" });
  await sink.stop();
  assert.equal(await waiting, undefined);
  await assert.rejects(exchange(sink.port, ""), Deno.errors.ConnectionRefused);
  sink.script = {};
  sink.start();
  assert.equal((await exchange(sink.port, requestBytes(sink.port, "/")))?.status, 200);
});

test("a sink closes connections that stay idle", async () => {
  await using sink = startSink({}, { idleCloseMs: 30 });
  using socket = await RawSocket.connect(sink.port);
  await socket.send("GET / HTTP/1.1\r\n\r\n");
  assert.equal((await socket.response())?.status, 200);
  assert.equal(await socket.response(), undefined);
});

test("a sink streams an answer until the reader goes", async () => {
  await using sink = startSink({
    stream: async function* () {
      for (let n = 0; n < 3; n++) {
        yield new Uint8Array([97 + n]);
        await pause(5);
      }
    },
  });
  assert.equal((await exchange(sink.port, requestBytes(sink.port, "/")))?.text, "abc");
});

test("a fault in a script fails the test", async () => {
  const sink = startSink(() => {
    throw new Error("a script went wrong");
  });
  assert.equal(await exchange(sink.port, requestBytes(sink.port, "/")), undefined);
  await assert.rejects(sink[Symbol.asyncDispose](), /a script went wrong/);
});
