import assert from "node:assert/strict";
import { arrival } from "../helpers/arrivals.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { allDeliveries } from "../helpers/operator.ts";
import { postAnswer } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { exchange, RawSocket } from "../helpers/raw.ts";
import { startSink } from "../helpers/sink.ts";

group("message framing", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
  const head = (path: string, ...lines: string[]) =>
    [`POST ${path} HTTP/1.1`, "Host: relay.example", ...lines, "", ""].join("\r\n");

  await behaviour("a chunked body goes out with one length and without its trailer", async () => {
    const response = await exchange(
      relay.port,
      head("/hook/demo", "Transfer-Encoding: chunked") +
        "3\r\nabc\r\n2;x=1\r\nde\r\n0\r\nX-Trail: t\r\n\r\n",
    );
    const request = await arrival(sink, postAnswer(response!));
    assert.equal(request.text, "abcde");
    assert.deepEqual(request.values("content-length"), ["5"]);
    for (const name of ["transfer-encoding", "trailer", "x-trail"]) {
      assert.deepEqual(request.values(name), [], name);
    }
  });

  await behaviour("a sender that waits for 100 Continue gets it at once", async () => {
    using socket = await RawSocket.connect(relay.port);
    await socket.send(head("/hook/demo", "Expect: 100-continue", "Content-Length: 3"));
    assert.equal((await socket.response({ withinMs: 5_000 }))?.status, 100);
    await socket.send("abc");
    const response = await socket.response();
    assert.equal(response?.status, 202);
    const request = await arrival(sink, postAnswer(response!));
    assert.deepEqual(request.values("expect"), []);
  });

  await behaviour("a sender that waits in front of an unknown endpoint is answered", async () => {
    using socket = await RawSocket.connect(relay.port);
    await socket.send(head("/hook/nope", "Expect: 100-continue", "Content-Length: 3"));
    const first = await socket.response({ withinMs: 5_000 });
    if (first?.status !== 100) return assert.equal(first?.status, 404);
    await socket.send("abc");
    assert.equal((await socket.response())?.status, 404);
  });

  await behaviour("two framings at once are refused and nothing is stored", async () => {
    const before = (await allDeliveries(relay, "endpoint=demo")).length;
    const response = await exchange(
      relay.port,
      head("/hook/demo", "Content-Length: 4", "Transfer-Encoding: chunked") +
        "3\r\nabc\r\n0\r\n\r\n",
    );
    assert(response === undefined || response.status === 400, `answered ${response?.status}`);
    assert.equal((await allDeliveries(relay, "endpoint=demo")).length, before);
  });

  await behaviour("two different lengths are refused and nothing is stored", async () => {
    const before = (await allDeliveries(relay, "endpoint=demo")).length;
    const response = await exchange(
      relay.port,
      head("/hook/demo", "Content-Length: 3", "Content-Length: 4") + "abcd",
    );
    assert(response === undefined || response.status === 400, `answered ${response?.status}`);
    assert.equal((await allDeliveries(relay, "endpoint=demo")).length, before);
  });

  await behaviour("a transfer coding other than chunked is refused or taken off", async () => {
    const response = await exchange(
      relay.port,
      head("/hook/demo", "Transfer-Encoding: gzip, chunked") + "3\r\nabc\r\n0\r\n\r\n",
    );
    if (response === undefined || [400, 501].includes(response.status)) return;
    assert.equal(response.status, 202);
    const request = await arrival(sink, postAnswer(response));
    assert.equal(request.text, "abc");
    assert.deepEqual(request.values("transfer-encoding"), []);
  });
});
