import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { ADMIN_TOKEN, startRelay } from "../helpers/program.ts";
import { exchange } from "../helpers/raw.ts";

/** Each has the form `host[:port]`, but no URL may have it. */
const HOSTS = ["h:99999", "[::::]", "999.999.999.999", "%", "a%zz", "xn--"];

/** Requests whose handlers read the URL that was called, with what leads them there. */
const REQUESTS: [line: string, ...headers: string[]][] = [
  ["GET /admin/deliveries", "Accept: text/html"],
  ["GET /api/v1/events", `Authorization: Bearer ${ADMIN_TOKEN}`],
  ["POST /hook/calls", "X-Twilio-Signature: AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "Content-Length: 1"],
];

group("hosts that no URL may have", async (behaviour) => {
  await using relay = await startRelay({
    endpoints: [endpoint("calls", "http://127.0.0.1:9/", { provider: "twilio", secret: "s" })],
  });
  for (const host of HOSTS) {
    for (const [line, ...headers] of REQUESTS) {
      await behaviour(`${line} with Host "${host}" is a bad request`, async () => {
        const head = [`${line} HTTP/1.1`, `Host: ${host}`, ...headers, "", "x"].join("\r\n");
        const response = await exchange(relay.port, head);
        assert.deepEqual([response?.status, response?.json.code], [400, "bad_host"]);
      });
    }
  }
  await behaviour("and so is one in the request line", async () => {
    const response = await exchange(relay.port, "GET http://[::/admin HTTP/1.1\r\nHost: h\r\n\r\n");
    assert.equal(response?.status, 400);
  });
});
