import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac, createSign, generateKeyPairSync, sign } from "node:crypto";
import { validateSignature } from "@line/bot-sdk";
import * as octokit from "@octokit/webhooks-methods";
import { EventWebhook } from "@sendgrid/eventwebhook";
import { verifySlackRequest } from "@slack/bolt/dist/receivers/verify-request.js";
import { verifyKey } from "discord-interactions";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as SvixWebhook } from "svix";
import twilio from "twilio";
import type { RequestHead } from "../../lib/model.ts";
import { senderFor } from "../../lib/verify/sender.ts";
import { bytes, codeOf, endpointWith, headOf, verdictOf } from "./requests.ts";

/**
 * The senders' own libraries as judges: what they sign, the presets verify; what is signed
 * anew hours later, they accept, and without that they refuse it.
 */

const BODY = `{"id":"evt_1","note":"Grüße 😀 \\ud83d\\ude00","n":9007199254740993}\r\n`;
const ALTERED = BODY.replace("evt_1", "evt_2");
const SIX_HOURS_MS = 6 * 3_600_000;

const codeFor = (
  provider: string,
  secret: string,
  head: RequestHead,
  body: string,
  nowMs: number,
) => codeOf(verdictOf(senderFor(endpointWith({ provider, secret })), head, bytes(body), nowMs));

/** Headers of the same request, signed anew at a time. */
async function signedAnew(provider: string, secret: string, head: RequestHead, atMs: number) {
  const sender = senderFor(endpointWith({ provider, secret, restamp: true }));
  const headers = await sender.restamp?.(head, [bytes(BODY)], atMs);
  return Object.fromEntries(headers ?? []) as Record<string, string>;
}

Deno.test("GitHub: what Octokit signs verifies, and Octokit agrees", async () => {
  const signature = await octokit.sign("k3y", BODY);
  const head = headOf({ headers: { "X-Hub-Signature-256": signature } });
  assert.equal(codeFor("github", "k3y", head, BODY, 0), "ok");
  assert.equal(codeFor("github", "k3y", head, ALTERED, 0), "bad_signature");
  assert.equal(await octokit.verify("k3y", BODY, signature), true);
});

Deno.test("Stripe: what its library signs verifies, and six hours later it takes what is signed anew", async () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const acceptedMs = 1_760_000_000_000;
  const deliveredMs = acceptedMs + SIX_HOURS_MS;
  const { webhooks } = new Stripe("sk_test_1");
  const header = await webhooks.generateTestHeaderStringAsync({
    payload: BODY,
    secret,
    timestamp: acceptedMs / 1_000,
  });
  const head = headOf({ headers: { "Stripe-Signature": header } });
  assert.equal(codeFor("stripe", secret, head, BODY, acceptedMs), "ok");
  assert.equal(codeFor("stripe", secret, head, ALTERED, acceptedMs), "bad_signature");
  const open = (signature: string) =>
    webhooks.constructEventAsync(BODY, signature, secret, 300, undefined, deliveredMs);
  await assert.rejects(open(header), /tolerance/);
  const again = await signedAnew("stripe", secret, head, deliveredMs);
  assert.equal((await open(again["stripe-signature"])).id, "evt_1");
});

for (
  const [provider, prefix, Webhook] of [
    ["standard-webhooks", "webhook", StandardWebhook],
    ["svix", "svix", SvixWebhook],
  ] as const
) {
  Deno.test(`${provider}: what its library signs verifies, and six hours later it takes what is signed anew`, async () => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const deliveredMs = Date.now();
    const acceptedMs = deliveredMs - SIX_HOURS_MS;
    const library = new Webhook(secret);
    const headers = {
      [`${prefix}-id`]: "msg_1",
      [`${prefix}-timestamp`]: String(Math.floor(acceptedMs / 1_000)),
      [`${prefix}-signature`]: library.sign("msg_1", new Date(acceptedMs), BODY),
    };
    const head = headOf({ headers });
    assert.equal(codeFor(provider, secret, head, BODY, acceptedMs), "ok");
    assert.equal(codeFor(provider, secret, head, ALTERED, acceptedMs), "bad_signature");
    assert.throws(() => library.verify(BODY, headers), /too old/);
    library.verify(BODY, await signedAnew(provider, secret, head, deliveredMs));
  });
}

Deno.test("Slack: Bolt refuses a request after six hours and takes what is signed anew", async () => {
  const secret = "8f742231b10e8888abcd99yyyzzz85a5";
  const acceptedMs = 1_760_000_000_000;
  const deliveredMs = acceptedMs + SIX_HOURS_MS;
  const judge = (headers: Record<string, string>, nowMilliseconds: number) =>
    verifySlackRequest({
      signingSecret: secret,
      body: BODY,
      headers: {
        "x-slack-signature": headers["x-slack-signature"],
        "x-slack-request-timestamp": Number(headers["x-slack-request-timestamp"]),
      },
      nowMilliseconds,
    });
  const seconds = acceptedMs / 1_000;
  const mac = createHmac("sha256", secret).update(`v0:${seconds}:${BODY}`).digest("hex");
  const headers = {
    "x-slack-request-timestamp": String(seconds),
    "x-slack-signature": `v0=${mac}`,
  };
  const head = headOf({ headers });
  assert.equal(codeFor("slack", secret, head, BODY, acceptedMs), "ok");
  judge(headers, acceptedMs);
  assert.throws(() => judge(headers, deliveredMs), /stale|5 minutes/);
  judge(await signedAnew("slack", secret, head, deliveredMs), deliveredMs);
});

const TWILIO_URLS = [
  "https://relay.example.com/hook/twilio",
  "https://relay.example.com/hook/twilio?a=1&b=it's%20me",
  "https://relay.example.com:8443/hook/twilio",
];

for (const url of TWILIO_URLS) {
  Deno.test(`Twilio: what its library signs for ${url} verifies`, () => {
    const fields = { From: "+4915112345", Body: "Grüße & 😀 = ok", Empty: "" };
    const signature = twilio.getExpectedTwilioSignature("token", url, fields);
    const headers = {
      "Content-Type": "application/x-www-form-urlencoded",
      "X-Twilio-Signature": signature,
    };
    const head = headOf({ url, headers });
    const body = new URLSearchParams(fields).toString();
    assert.equal(codeFor("twilio", "token", head, body, 0), "ok");
    assert.equal(codeFor("twilio", "token", head, `${body}&More=1`, 0), "bad_signature");
    assert.equal(twilio.validateRequest("token", signature, url, fields), true);
  });
}

Deno.test("Twilio: a JSON body is covered by its hash in the address", () => {
  const hash = twilio.getExpectedBodyHash(BODY);
  const url = `https://relay.example.com/hook/twilio?bodySHA256=${hash}`;
  const signature = twilio.getExpectedTwilioSignature("token", url, {});
  const headers = { "Content-Type": "application/json", "X-Twilio-Signature": signature };
  const head = headOf({ url, headers });
  assert.equal(codeFor("twilio", "token", head, BODY, 0), "ok");
  assert.equal(codeFor("twilio", "token", head, ALTERED, 0), "bad_signature");
});

Deno.test("LINE: its library and the preset agree", () => {
  const signature = createHmac("sha256", "channel").update(BODY).digest("base64");
  for (const body of [BODY, ALTERED]) {
    const head = headOf({ headers: { "X-Line-Signature": signature } });
    const ours = codeFor("line", "channel", head, body, 0);
    assert.equal(ours === "ok", validateSignature(body, "channel", signature));
  }
});

Deno.test("SendGrid: its library and the preset agree", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const secret = publicKey.export({ format: "der", type: "spki" }).toString("base64");
  const timestamp = "1760000000";
  const signature = createSign("sha256").update(timestamp + BODY).sign(privateKey, "base64");
  const library = new EventWebhook();
  const key = library.convertPublicKeyToECDSA(secret);
  for (const body of [BODY, ALTERED]) {
    const head = headOf({
      headers: {
        "X-Twilio-Email-Event-Webhook-Signature": signature,
        "X-Twilio-Email-Event-Webhook-Timestamp": timestamp,
      },
    });
    const ours = codeFor("sendgrid", secret, head, body, 0);
    assert.equal(ours === "ok", library.verifySignature(key, body, signature, timestamp));
  }
});

Deno.test("Discord: its library and the preset agree", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ format: "jwk" }).x ?? "";
  const secret = Buffer.from(raw, "base64url").toString("hex");
  const timestamp = "1760000000";
  const signature = sign(null, Buffer.from(timestamp + BODY), privateKey).toString("hex");
  for (const body of [BODY, ALTERED]) {
    const head = headOf({
      headers: { "X-Signature-Ed25519": signature, "X-Signature-Timestamp": timestamp },
    });
    const ours = codeFor("discord", secret, head, body, 0);
    assert.equal(ours === "ok", await verifyKey(body, signature, timestamp, secret));
  }
});
