import assert from "node:assert/strict";
import { Jar, signedIn } from "../admin/jar.ts";
import { group } from "../helpers/group.ts";
import { ADMIN_TOKEN, type Relay, startRelay } from "../helpers/program.ts";
import { RawSocket } from "../helpers/raw.ts";

/** Ways to announce a body that then ends before its end. */
const CUT: [name: string, framing: string][] = [
  ["with a length", "Content-Length: 50\r\n\r\n{"],
  ["in chunks", "Transfer-Encoding: chunked\r\n\r\n5\r\n{"],
];

async function sendCut(relay: Relay, path: string, header: string, framing: string) {
  using socket = await RawSocket.connect(relay.port);
  await socket.send(`POST ${path} HTTP/1.1\r\nHost: h\r\n${header}\r\n${framing}`);
  await socket.endSending();
  const response = await socket.response();
  return [response?.status, response?.json.code];
}

group("operators' bodies", async (behaviour) => {
  await using relay = await startRelay();
  const { cookies } = await signedIn(relay);
  const [[name, value]] = cookies;
  const surfaces = [
    ["/api/v1/replays", `Authorization: Bearer ${ADMIN_TOKEN}`],
    ["/admin/replays", `Cookie: ${name}=${value}`],
    ["/admin/sign-in", "Content-Type: application/x-www-form-urlencoded"],
  ];
  for (const [path, header] of surfaces) {
    for (const [how, framing] of CUT) {
      await behaviour(
        `a body for ${path} that comes ${how} and ends early is refused`,
        async () => {
          assert.deepEqual(await sendCut(relay, path, header, framing), [400, "body_incomplete"]);
        },
      );
    }
  }
  await behaviour("a form whose parts cannot be told apart has no fields", async () => {
    const jar = new Jar(relay.origin);
    const headers = {
      "content-type": "multipart/form-data; boundary=",
      "sec-fetch-site": "same-origin",
    };
    const { status } = await jar.fetch("/admin/sign-in", { method: "POST", headers, body: "--" });
    assert.equal(status, 401);
  });

  await behaviour("none of it is logged as a fault of the relay", () => {
    assert.doesNotMatch(relay.output, /request_failed/);
    return Promise.resolve();
  });
});
