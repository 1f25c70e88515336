import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { arrival } from "../helpers/arrivals.ts";
import { hmacHex, sha256 } from "../helpers/bytes.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { allDeliveries, read } from "../helpers/operator.ts";
import { accept, post } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";

const SIGNATURE = "x-hub-signature-256";

group("body bytes", async (behaviour) => {
  await using sink = startSink();
  await using signed = startSink();
  await using relay = await startRelay({
    endpoints: [
      endpoint("plain", sink),
      endpoint("signed", signed, { secret: "k3y", signatureHeader: SIGNATURE, idPath: "id" }),
    ],
  });
  const targets = [sink, signed];

  await behaviour("JSON keeps its white space and its length", async () => {
    const accepted = await accept(relay, "plain", {
      body: `{ "ok": true }`,
      headers: { "Content-Type": "application/json" },
    });
    const request = await arrival(targets, accepted);
    assert.equal(request.text, `{ "ok": true }`);
    assert.deepEqual(request.values("content-length"), ["14"]);
    assert.equal(sink.requests.length, 1);
  });

  await behaviour("emoji and escapes reach the target as the sender signed them", async () => {
    const body = String.raw`{"a":"🤨","b":"\uD83E\udd28","c":"é","d":"e\u0301"}`;
    const signature = `sha256=${hmacHex("k3y", body)}`;
    const accepted = await accept(relay, "signed", {
      body,
      headers: { [SIGNATURE]: signature },
    });
    const request = await arrival(targets, accepted);
    assert.equal(request.header(SIGNATURE), signature);
    assert.equal(`sha256=${hmacHex("k3y", request.body)}`, signature);
  });

  await behaviour("one changed byte breaks the signature and stores nothing", async () => {
    const before = await allDeliveries(relay, "endpoint=signed");
    const { http, code } = await post(relay, "signed", {
      body: `{"a":"x"}`,
      headers: { [SIGNATURE]: `sha256=${hmacHex("k3y", `{"a":"y"}`)}` },
    });
    assert.deepEqual([http, code], [401, "bad_signature"]);
    assert.equal((await allDeliveries(relay, "endpoint=signed")).length, before.length);
  });

  await behaviour("a compressed body stays compressed and its signature holds", async () => {
    const body = new Uint8Array(gzipSync(`{"id":"z1"}`));
    const accepted = await accept(relay, "signed", {
      body,
      headers: { "Content-Encoding": "gzip", [SIGNATURE]: `sha256=${hmacHex("k3y", body)}` },
    });
    const request = await arrival(targets, accepted);
    assert.deepEqual([...request.body.subarray(0, 2)], [0x1f, 0x8b]);
    assert.equal(request.header("content-encoding"), "gzip");
    assert.equal(sha256(request.body), sha256(body));
  });

  await behaviour("bytes that are no UTF-8 arrive unchanged and tell events apart", async () => {
    for (const last of [0x80, 0x81]) {
      const body = new Uint8Array([0xff, 0xfe, 0x00, last, 0xc3, 0x28]);
      const accepted = await accept(relay, "plain", {
        body,
        headers: { "Content-Type": "application/octet-stream" },
      });
      assert.deepEqual([...(await arrival(targets, accepted)).body], [...body]);
      assert.equal(
        (await read<{ sha256: string }>(relay, `/deliveries/${accepted.deliveryId}`)).sha256,
        sha256(body),
      );
    }
  });

  const untyped: [name: string, body: string, type?: string][] = [
    ["an empty body without a type", ""],
    ["a body without a type", `{"test":"ok"}`],
    ["a body of an unusual type", `{"test":"ce"}`, "application/cloudevents+json; charset=utf-8"],
  ];
  for (const [name, body, type] of untyped) {
    await behaviour(`${name} is delivered with the type it came with`, async () => {
      const headers: Record<string, string> = type === undefined ? {} : { "Content-Type": type };
      const accepted = await accept(relay, "plain", { body, headers });
      const request = await arrival(targets, accepted);
      assert.equal(request.text, body);
      assert.deepEqual(request.values("content-type"), type === undefined ? [] : [type]);
      assert.deepEqual(request.values("content-length"), [String(body.length)]);
    });
  }
});
