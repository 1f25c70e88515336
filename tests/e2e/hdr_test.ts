import assert from "node:assert/strict";
import { html, signedIn } from "../admin/jar.ts";
import { cli } from "../cli/cli.ts";
import { arrival } from "../helpers/arrivals.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { delivery, page, reached } from "../helpers/operator.ts";
import { accept, postAnswer } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { exchange } from "../helpers/raw.ts";
import { startSink } from "../helpers/sink.ts";

group("headers", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });

  await behaviour("hop-by-hop headers end at the relay", async () => {
    const accepted = await accept(relay, "demo", {
      headers: {
        "Connection": "keep-alive, X-Hop",
        "X-Hop": "1",
        "Keep-Alive": "timeout=5",
        "TE": "trailers",
        "Proxy-Connection": "keep-alive",
        "Upgrade": "h2c",
        "Proxy-Authorization": "Basic eA==",
      },
    });
    const request = await arrival(sink, accepted);
    assert.equal(request.header("holdfast-attempt"), "1");
    const gone = ["x-hop", "te", "proxy-connection", "upgrade", "proxy-authorization"];
    for (const name of gone) assert.deepEqual(request.values(name), [], name);
    assert(!request.values("keep-alive").includes("timeout=5"));
    assert(!request.values("connection").some((value) => /x-hop/i.test(value)));
    await reached(relay, accepted.deliveryId, "delivered");
  });

  await behaviour("a Connection header cannot take the content's own headers away", async () => {
    const accepted = await accept(relay, "demo", {
      headers: { "Connection": "close, Content-Length", "Content-Type": "text/x-own" },
    });
    const request = await arrival(sink, accepted);
    assert.equal(request.header("content-type"), "text/x-own");
    assert.equal(request.values("content-length").length, 1);
  });

  await behaviour("repeated header lines keep their number and order", async () => {
    const response = await exchange(
      relay.port,
      `POST /hook/demo HTTP/1.1\r\nHost: h\r\nX-Tag: one\r\nx-tag: two\r\nX-Tag: a,b\r\n` +
        `Cookie: a=1\r\nCookie: b=2\r\nX-Empty:\r\nContent-Length: 3\r\n\r\ntag`,
    );
    const request = await arrival(sink, postAnswer(response!));
    assert.equal(request.values("x-tag").join(", ").replaceAll(", ", ","), "one,two,a,b");
    assert.equal(request.values("cookie").join("; "), "a=1; b=2");
    assert.deepEqual(request.values("x-empty"), [""]);
  });

  await behaviour(
    "header bytes beyond ASCII reach the target and the lists unchanged",
    async () => {
      const accepted = await accept(relay, "demo", {
        headers: { "X-L": "caf\xe9", "X-U": "caf\xc3\xa9", "x-request-id": "\xe9vt-1" },
      });
      assert.equal(accepted.http, 202);
      const request = await arrival(sink, accepted);
      assert.equal(request.header("x-l"), "caf\xe9");
      assert.equal(request.header("x-u"), "caf\xc3\xa9");
      assert.equal(request.header("x-request-id"), "\xe9vt-1");
      await delivery(relay, accepted.deliveryId);
      const { items } = await page(relay, "endpoint=demo&limit=5");
      assert(items.some(({ id }) => id === accepted.deliveryId));
      const jar = await signedIn(relay);
      for (const path of ["", `/${accepted.deliveryId}`]) {
        assert.match(await html(jar, `/admin/deliveries${path}`), /évt-1/);
      }
      const { code, stdout } = await cli(relay, ["show", accepted.deliveryId]);
      assert.equal(code, 0);
      assert.match(stdout, /évt-1/);
    },
  );

  await behaviour(
    "the last element of x-forwarded-for is the bare address of the peer",
    async () => {
      const accepted = await accept(relay, "demo", {
        headers: {
          "X-Forwarded-For": "203.0.113.9",
          "X-Forwarded-Proto": "ftp",
          "X-Forwarded-Host": "spoofed.example",
        },
      });
      const request = await arrival(sink, accepted);
      assert.equal(request.values("x-forwarded-for").length, 1);
      assert.equal(request.header("x-forwarded-for")?.split(",").at(-1)?.trim(), "127.0.0.1");
      assert.deepEqual(request.values("x-forwarded-proto"), ["http"]);
      assert.deepEqual(request.values("x-forwarded-host"), [`127.0.0.1:${relay.port}`]);
    },
  );

  await behaviour("a sender cannot write the relay's own headers", async () => {
    const accepted = await accept(relay, "demo", {
      headers: {
        "Holdfast-Delivery-Id": "forged",
        "Holdfast-Attempt": "99",
        "Holdfast-Replay": "7",
        "cf-connecting-ip": "1.2.3.4",
        "x-deno-subhost": "a",
      },
    });
    const request = await arrival(sink, accepted);
    assert.deepEqual(request.values("holdfast-delivery-id"), [accepted.deliveryId]);
    assert.deepEqual(request.values("holdfast-attempt"), ["1"]);
    for (const name of ["holdfast-replay", "cf-connecting-ip", "x-deno-subhost"]) {
      assert.deepEqual(request.values(name), [], name);
    }
  });
});
