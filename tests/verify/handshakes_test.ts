import assert from "node:assert/strict";
import { PROBLEMS } from "../../lib/errors.ts";
import { type HandshakeAnswer, type Sender, senderFor } from "../../lib/verify/sender.ts";
import type { RequestHead } from "../../lib/model.ts";
import { bytes, codeOf, endpointWith, headerList, headOf, verdictOf } from "./requests.ts";

/** One handshake of tests/data/providers/handshakes.json; that folder's README explains it. */
interface Exchange {
  provider: string;
  name: string;
  secret?: string;
  config?: { verify_token?: string; topic_arn?: string; public_url?: string };
  now: number;
  request: { method: string; path_query: string; headers: Record<string, string>; body: string };
  response: {
    status: number;
    headers: Record<string, string>;
    body: string;
    body_match: "exact" | "json" | "any";
  };
  effect?: { store?: string; value?: string; fetch?: string | null; url?: string };
}

const file = new URL("../data/providers/handshakes.json", import.meta.url);
const exchanges: Exchange[] = JSON.parse(Deno.readTextFileSync(file));

interface Answer extends Omit<HandshakeAnswer, "refused"> {
  stored: boolean;
}

/** Goes through the door in the order of the contract. */
function answer(sender: Sender, head: RequestHead, body: Uint8Array, nowMs: number): Answer {
  const early = sender.handshakeHead(head, nowMs);
  if (early !== undefined) return { ...early, stored: false };
  const verdict = verdictOf(sender, head, body, nowMs);
  if (!verdict.ok) return { ...empty(PROBLEMS[verdict.code][0]), stored: false };
  const late = sender.handshakeBody(head, body, nowMs);
  if (late !== undefined) return { ...late, stored: false };
  const { acceptBody, acceptStatus } = sender;
  if (typeof acceptBody === "string") return { ...empty(acceptStatus), stored: true };
  const headers = [["content-type", acceptBody.contentType]] as const;
  return { status: acceptStatus, headers, body: acceptBody.body, stored: true };
}

const empty = (status: number) => ({ status, headers: [], body: null });

/** What the files call no handshake, and pings that are ordinary events. */
const ORDINARY = new Set([
  ...["github ping", "intercom ping", "adyen answer-accepted", "twilio answer-empty-twiml"],
]);

for (const { provider, name, secret, config, now, request, response, effect } of exchanges) {
  const title = `${provider} ${name}`;
  Deno.test(`handshake ${title} is answered ${response.status}`, () => {
    const verifyToken = config?.verify_token ?? config?.topic_arn;
    const endpoint = endpointWith({ provider }, secret === undefined ? [] : [secret]);
    const sender = senderFor({ ...endpoint, verifyToken });
    const url = config?.public_url ?? `https://relay.example.com${request.path_query}`;
    const head = headOf({ ...request, url });
    const got = answer(sender, head, bytes(request.body), now * 1_000);
    assert.equal(got.status, response.status);
    // The door adds `nosniff` to every handshake's answer.
    const own = headerList(response.headers).filter(([key]) => key !== "x-content-type-options");
    for (const [key, value] of own) {
      assert.deepEqual(got.headers.filter(([header]) => header === key), [[key, value]]);
    }
    if (response.body_match === "exact") assert.equal(got.body ?? "", response.body);
    if (response.body_match === "json") {
      assert.deepEqual(JSON.parse(got.body ?? ""), JSON.parse(response.body));
    }
    assert.equal(got.stored, ORDINARY.has(title));
    const told = effect?.value ?? effect?.url;
    if (told !== undefined) assert.ok(got.report?.includes(told), "the operator is not told");
    else assert.equal(got.report, undefined);
  });
}

const T = 1_760_000_000_000;

Deno.test("an event whose text names url_verification is no handshake", () => {
  const sender = senderFor(endpointWith({ provider: "slack" }));
  const body = bytes(
    `{"type":"event_callback","event":{"text":"\\"type\\":\\"url_verification\\""}}`,
  );
  assert.equal(sender.handshakeBody(headOf({}), body, T), undefined);
});

Deno.test("an unsigned Slack event is refused although unsigned probes pass", () => {
  const sender = senderFor(endpointWith({ provider: "slack", secret: "s" }));
  const form = headOf({ headers: { "Content-Type": "application/x-www-form-urlencoded" } });
  const code = (body: string) => codeOf(verdictOf(sender, form, bytes(body), T));
  assert.equal(code("ssl_check=1&token=t"), "ok");
  assert.equal(code("ssl_check=0&token=t"), "missing_signature");
  assert.equal(code("command=%2Fx&text=ssl_check%3D1"), "missing_signature");
  const json = headOf({ headers: { "Content-Type": "application/json" } });
  const challenge = bytes(`{"type":"url_verification","challenge":"c"}`);
  assert.equal(codeOf(verdictOf(sender, json, challenge, T)), "missing_signature");
});

Deno.test("an unsigned monday event with a challenge beside it is refused", () => {
  const sender = senderFor(endpointWith({ provider: "monday", secret: "s" }));
  const verdict = verdictOf(sender, headOf({}), bytes(`{"challenge":"c","event":{}}`), T);
  assert.equal(codeOf(verdict), "missing_signature");
});

Deno.test("a large unsigned body is refused without being looked at", () => {
  const sender = senderFor(endpointWith({ provider: "slack", secret: "s" }));
  const check = sender.begin(headOf({}), T);
  assert.ok(!("ok" in check));
  assert.equal(codeOf(check.finish(undefined)), "missing_signature");
});

Deno.test("Asana's key is not replaced once a secret is configured", () => {
  const sender = senderFor(endpointWith({ provider: "asana", secret: "s" }));
  const got = sender.handshakeHead(headOf({ headers: { "X-Hook-Secret": "other" } }), T);
  assert.equal(got?.status, 403);
  assert.equal(got?.refused?.code, "handshake_refused");
});

Deno.test("Notion's token is not reported once a secret is configured", () => {
  const sender = senderFor(endpointWith({ provider: "notion", secret: "s" }));
  const body = bytes(`{"verification_token":"secret_x"}`);
  assert.equal(codeOf(verdictOf(sender, headOf({}), body, T)), "missing_signature");
});

Deno.test("a GET that is no handshake goes on to the method check", () => {
  for (const provider of ["meta", "dropbox", "okta", "trello", "github"]) {
    const sender = senderFor(endpointWith({ provider }));
    assert.equal(sender.handshakeHead(headOf({ method: "GET" }), T), undefined, provider);
  }
});

Deno.test("Okta's challenge with another authorization is refused", () => {
  const sender = senderFor(endpointWith({ provider: "okta", secret: "s" }));
  const headers = { "X-Okta-Verification-Challenge": "c", Authorization: "wrong" };
  assert.equal(sender.handshakeHead(headOf({ method: "GET", headers }), T)?.status, 401);
});

Deno.test("Zoom's token is answered with the secret that signed the request", async () => {
  const { createHmac } = await import("node:crypto");
  const sign = (secret: string, text: string) =>
    createHmac("sha256", secret).update(text).digest("hex");
  const sender = senderFor(endpointWith({ provider: "zoom", secret: ["new", "old"] }));
  const body = `{"event":"endpoint.url_validation","payload":{"plainToken":"p"}}`;
  const headers = {
    "x-zm-request-timestamp": String(T / 1_000),
    "x-zm-signature": `v0=${sign("old", `v0:${T / 1_000}:${body}`)}`,
  };
  const got = sender.handshakeBody(headOf({ headers }), bytes(body), T);
  assert.equal(JSON.parse(got?.body ?? "{}").encryptedToken, sign("old", "p"));
});

Deno.test("challenges that are echoed are plain text", () => {
  const sender = senderFor(endpointWith({ provider: "meta", verifyToken: "vt" }));
  const query = "hub.mode=subscribe&hub.verify_token=vt&hub.challenge=%3Cb%3E1%3C%2Fb%3E";
  const head = headOf({ method: "GET", url: `https://relay.example.com/hook/demo?${query}` });
  const got = sender.handshakeHead(head, T);
  assert.equal(got?.body, "<b>1</b>");
  assert.deepEqual(got?.headers, [["content-type", "text/plain"]]);
});

Deno.test("Discord's event ping is an answer that a Response can be made of", () => {
  const sender = senderFor(endpointWith({ provider: "discord-events" }));
  const got = sender.handshakeBody(headOf({}), bytes(`{"type":0}`), T);
  assert.equal(new Response(got?.body, { status: got?.status }).status, 204);
  assert.equal(sender.duplicateStatus, 204);
});
