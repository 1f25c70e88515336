import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { arrival, attemptsOf } from "../helpers/arrivals.ts";
import { hmacHex } from "../helpers/bytes.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { allDeliveries, reached, replay } from "../helpers/operator.ts";
import { accept, post, type PostAnswer } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { exchange } from "../helpers/raw.ts";
import { startSink } from "../helpers/sink.ts";
import { pause, until } from "../helpers/wait.ts";

const SECRET = "k3y";
const PUBLIC = "https://relay.example";

const nowS = () => Math.floor(Date.now() / 1_000);

/** A request as Slack signs it, and what else Slack says in its headers. */
function slack(body: string, more: Record<string, string> = {}, second = nowS()) {
  return {
    body,
    headers: {
      "Content-Type": "application/json",
      "X-Slack-Request-Timestamp": String(second),
      "X-Slack-Signature": `v0=${hmacHex(SECRET, `v0:${second}:${body}`)}`,
      ...more,
    },
  };
}

function line(body: string) {
  const signature = createHmac("sha256", SECRET).update(body).digest("base64");
  return { body, headers: { "X-Line-Signature": signature } };
}

group("senders and their own ways", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [
      endpoint("meta", sink, { provider: "meta", secret: SECRET, verifyToken: "vt-h1dden" }),
      endpoint("line", sink, { provider: "line", secret: SECRET }),
      endpoint("slack", sink, { provider: "slack", secret: SECRET, signingSecret: "re1ay-signs" }),
      endpoint("stamped", sink, { provider: "slack", secret: SECRET, restamp: true }),
      endpoint("plain", sink),
    ],
    env: { PUBLIC_URL: PUBLIC, LOG_LEVEL: "debug" },
  });
  const stored = async (id: string) => (await allDeliveries(relay, `endpoint=${id}`)).length;
  const subscribe = (challenge: string, token: string) =>
    exchange(
      relay.port,
      `GET /hook/meta?hub.mode=subscribe&hub.challenge=${challenge}&hub.verify_token=${token} ` +
        "HTTP/1.1\r\nHost: relay.example\r\n\r\n",
    );

  for (const [challenge, echoed] of [["1158201444", "1158201444"], ["%3Cb%3E1", "<b>1"]]) {
    await behaviour(
      `the challenge ${echoed} by GET is echoed as text that nobody runs`,
      async () => {
        const answer = await subscribe(challenge, "vt-h1dden");
        assert.deepEqual([answer?.status, answer?.text], [200, echoed]);
        assert.match(answer?.header("content-type") ?? "", /^text\/plain/);
        assert.equal(answer?.header("x-content-type-options"), "nosniff");
        assert.equal(await stored("meta"), 0);
      },
    );
  }

  await behaviour("a challenge with another token is refused, and no token is logged", async () => {
    const answer = await subscribe("1158201444", "wr0ng-token");
    assert.equal(answer?.status, 403);
    assert.doesNotMatch(answer?.text ?? "", /1158201444/);
    assert.doesNotMatch(relay.output, /vt-h1dden|wr0ng-token/);
  });

  await behaviour(
    "an event that a sender sends anew with a flag in it is a duplicate",
    async () => {
      const event = (isRedelivery: boolean) =>
        line(JSON.stringify({
          destination: "U0",
          events: [{ webhookEventId: "W1", deliveryContext: { isRedelivery } }],
        }));
      const answers = [
        await post(relay, "line", event(false)),
        await post(relay, "line", event(true)),
      ];
      assert.deepEqual(answers.map(({ http, status }) => [http, status]), [
        [200, "accepted"],
        [200, "duplicate"],
      ]);
      assert.equal(answers[1].deliveryId, answers[0].deliveryId);
    },
  );

  await behaviour(
    "a sender's ping without events is answered 200 each time, if signed",
    async () => {
      const ping = line(`{"destination":"U0","events":[]}`);
      for (let n = 0; n < 2; n++) assert.equal((await post(relay, "line", ping)).http, 200);
      assert.equal((await post(relay, "line", { body: ping.body })).http, 401);
    },
  );

  const challenge = `{"type":"url_verification","challenge":"c-1","token":"t"}`;

  await behaviour("a signed challenge by POST is answered and nothing stored", async () => {
    const { http, response } = await post(relay, "slack", slack(challenge));
    assert.deepEqual([http, response.text.includes("c-1")], [200, true]);
    assert.equal(await stored("slack"), 0);
  });

  await behaviour("an unsigned or badly signed challenge by POST is refused", async () => {
    for (const headers of [{}, { ...slack(challenge).headers, "X-Slack-Signature": "v0=00" }]) {
      const { http, response } = await post(relay, "slack", { body: challenge, headers });
      assert.equal(http, 401);
      assert.doesNotMatch(response.text, /c-1/);
    }
  });

  const event = (id: string, text: string) =>
    JSON.stringify({ type: "event_callback", event_id: id, event: { text } });
  const accepted = ({ http, response }: PostAnswer) => {
    assert.deepEqual([http, response.header("holdfast-status")], [200, "accepted"]);
    return { deliveryId: response.header("holdfast-delivery-id") ?? "" };
  };

  await behaviour("an event whose text speaks of a challenge is an event", async () => {
    const body = event("Ev0", `{"type":"url_verification"}`);
    const { deliveryId } = accepted(await post(relay, "slack", slack(body)));
    await reached(relay, deliveryId, "delivered");
  });

  await behaviour("a sender's retry with a new signature is a duplicate", async () => {
    const body = event("Ev1", "hi");
    const { deliveryId } = accepted(await post(relay, "slack", slack(body, {}, nowS() - 60)));
    const again = await post(relay, "slack", slack(body, { "X-Slack-Retry-Num": "1" }));
    assert.deepEqual(
      [
        again.http,
        ...["status", "delivery-id"].map((name) => again.response.header(`holdfast-${name}`)),
      ],
      [200, "duplicate", deliveryId],
    );
    await reached(relay, deliveryId, "delivered");
    assert.equal(attemptsOf(sink, deliveryId).length, 1);
  });

  await behaviour(
    "a sender's retry that is the first to come is taken with its marks",
    async () => {
      const marks = { "X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout" };
      const answer = accepted(await post(relay, "slack", slack(event("Ev2", "hi"), marks)));
      const request = await arrival(sink, answer);
      for (const [name, value] of Object.entries(marks)) {
        assert.deepEqual(request.values(name), [value]);
      }
    },
  );

  /** Accepts an event that was signed four minutes ago, and has it replayed later. */
  const replayed = async (id: string) => {
    const body = event(`late-${id}`, "hi");
    const signedAt = nowS() - 240;
    const { deliveryId } = accepted(await post(relay, id, slack(body, {}, signedAt)));
    await reached(relay, deliveryId, "delivered");
    await pause(1_100);
    assert.equal(await replay(relay, deliveryId), 202);
    await until(() => attemptsOf(sink, deliveryId).length === 2, { what: "the replay" });
    const [first, second] = attemptsOf(sink, deliveryId);
    assert.deepEqual([first.text, second.text], [body, body]);
    return { body, sent: slack(body, {}, signedAt).headers, deliveryId, first, second };
  };

  await behaviour(
    "a replay carries the sender's own stamp and a fresh one of the relay's",
    async () => {
      const { body, sent, deliveryId, first, second } = await replayed("slack");
      for (const [name, value] of Object.entries(sent)) {
        assert.deepEqual(second.values(name), [value], name);
      }
      assert.equal(second.header("holdfast-accepted-at"), first.header("holdfast-accepted-at"));
      const stamps = [first, second].map((one) => Number(one.header("holdfast-timestamp")));
      assert(stamps[1] > stamps[0], `stamps ${stamps}`);
      const signed = `${deliveryId}.${stamps[1]}.${body}`;
      const own = createHmac("sha256", "re1ay-signs").update(signed).digest("base64");
      assert.deepEqual(second.values("holdfast-signature"), [`v1,${own}`]);
    },
  );

  await behaviour("with restamp a replay is signed as the sender would sign it now", async () => {
    const { body, sent, second } = await replayed("stamped");
    const stampedAt = Number(second.header("x-slack-request-timestamp"));
    assert(Math.abs(stampedAt - nowS()) < 60, `stamped ${stampedAt}`);
    assert.deepEqual(second.values("x-slack-signature"), [
      slack(body, {}, stampedAt).headers["X-Slack-Signature"],
    ]);
    for (const name of ["X-Slack-Signature", "X-Slack-Request-Timestamp"] as const) {
      assert.deepEqual(second.values(`holdfast-original-${name}`), [sent[name]]);
    }
  });

  await behaviour("a backend can put together the address that its sender called", async () => {
    const answer = await accept(relay, "plain", {
      rest: "/a%2Fb?x=1&y=a%20b",
      headers: { "X-Forwarded-Proto": "ftp", "X-Forwarded-Host": "spoofed.example" },
    });
    const request = await arrival(sink, answer);
    const [proto, host] = ["proto", "host"].map((part) => request.values(`x-forwarded-${part}`));
    assert.equal(
      `${proto}://${host}/hook/plain${request.target.slice("/in".length)}`,
      `${PUBLIC}/hook/plain/a%2Fb?x=1&y=a%20b`,
    );
  });
});
