import type { SignatureScheme } from "../../signature_scheme.ts";
import {
  crc,
  discordEventsPing,
  discordPing,
  hubChallenge,
  lineVerify,
  sslCheck,
  twitchChallenge,
  urlVerification,
  zoomValidation,
} from "../handshakes.ts";
import { hmac, type Preset, stamp, standardWebhooks } from "../preset.ts";

const META = hmac("x-hub-signature-256", { prefix: "sha256=" });

const META_SETUP =
  "App dashboard, Webhooks. `secret` is the app secret, `verifyToken` the token entered there.";

const DISCORD: SignatureScheme = {
  ...hmac("x-signature-ed25519", {
    algorithm: "ed25519",
    key: "hex",
    content: "{timestamp}{body}",
    timestamp: stamp("header:x-signature-timestamp", "s"),
  }),
};

/** Chat, social networks, calls, streams and mail. */
export const MESSAGING: readonly Preset[] = [
  {
    name: "slack",
    title: "Slack",
    setup: "App, Event Subscriptions, Interactivity or Slash Commands. `secret`: signing secret.",
    schemes: [
      hmac("x-slack-signature", {
        content: "v0:{timestamp}:{body}",
        prefix: "v0=",
        timestamp: stamp("header:x-slack-request-timestamp", "s", 300),
      }),
    ],
    id: ["body:/event_id", "form:trigger_id", "form:payload/trigger_id"],
    fallback: {},
    acceptStatus: 200,
    acceptBody: "empty",
    handshakes: [urlVerification, sslCheck],
  },
  {
    name: "twilio",
    title: "Twilio",
    setup: "Number or service: webhook URL. `secret` is the account's auth token.",
    schemes: [
      hmac("x-twilio-signature", {
        algorithm: "hmac-sha1",
        content: "{twilio:request}",
        encoding: "base64",
      }),
    ],
    id: ["header:i-twilio-idempotency-token"],
    fallback: {},
    acceptStatus: 200,
    acceptBody: { contentType: "text/xml", body: "<Response/>" },
    note: "Signs the address: `PUBLIC_URL` and path must be what Twilio was given.",
  },
  {
    name: "sendgrid",
    title: "SendGrid",
    setup: "Settings, Mail Settings, Event Webhook. `secret` is the verification key.",
    schemes: [
      hmac("x-twilio-email-event-webhook-signature", {
        algorithm: "ecdsa-p256",
        key: "spki",
        content: "{timestamp}{body}",
        encoding: "base64",
        timestamp: stamp("header:x-twilio-email-event-webhook-timestamp", "s"),
      }),
    ],
    id: [{ parts: ["body:/sg_event_id"], each: "" }],
    fallback: {},
    acceptStatus: 200,
  },
  {
    name: "mailgun",
    title: "Mailgun",
    setup: "Send, Webhooks. `secret` is the HTTP webhook signing key.",
    schemes: [{
      ...hmac("", {
        content: "{body:/signature/timestamp}{body:/signature/token}",
        timestamp: stamp("body:/signature/timestamp", "s"),
      }),
      signature: ["body:/signature/signature"],
    }],
    id: ["body:/event-data/id"],
    fallback: {},
    acceptStatus: 200,
    note: "The signature does not cover the event, only a token beside it.",
  },
  {
    name: "postmark",
    title: "Postmark",
    setup: "Server, stream, Webhooks: Basic auth credentials. `secret` is `user:password`.",
    schemes: [{ type: "basic", header: "authorization" }],
    id: [],
    fallback: {},
    acceptStatus: 200,
  },
  {
    name: "resend",
    title: "Resend",
    setup: "Webhooks. `secret` is the signing secret (`whsec_…`).",
    schemes: standardWebhooks("svix"),
    id: ["header:svix-id"],
    fallback: {},
    acceptStatus: 200,
  },
  {
    name: "line",
    title: "LINE",
    setup: "Developers console, Messaging API. `secret` is the channel secret.",
    schemes: [hmac("x-line-signature", { encoding: "base64" })],
    id: [{ parts: ["body:/webhookEventId"], each: "/events" }],
    fallback: {},
    acceptStatus: 200,
    handshakes: [lineVerify],
  },
  {
    name: "discord",
    title: "Discord (interactions)",
    setup: "Application, Interactions Endpoint URL. `secret` is the application's public key.",
    schemes: [DISCORD],
    id: ["body:/id"],
    fallback: {},
    acceptStatus: 200,
    acceptBody: { contentType: "application/json", body: `{"type":5}` },
    handshakes: [discordPing],
    note: "Every interaction is answered as deferred; the backend completes it within 15 minutes.",
  },
  {
    name: "discord-events",
    title: "Discord (webhook events)",
    setup: "Application, Webhooks. `secret` is the application's public key.",
    schemes: [DISCORD],
    id: [],
    fallback: {},
    acceptStatus: 204,
    acceptBody: "empty",
    handshakes: [discordEventsPing],
  },
  {
    name: "meta",
    title: "Meta: Facebook, Instagram, Messenger",
    aliases: ["facebook", "instagram", "messenger"],
    setup: META_SETUP,
    schemes: [META],
    id: [],
    fallback: {},
    acceptStatus: 200,
    handshakes: [hubChallenge],
  },
  {
    name: "whatsapp",
    title: "WhatsApp",
    setup: META_SETUP,
    schemes: [META],
    id: [
      "body:/entry/0/changes/0/value/messages/0/id",
      {
        parts: [
          "body:/entry/0/changes/0/value/statuses/0/id",
          "body:/entry/0/changes/0/value/statuses/0/status",
        ],
        join: ":",
      },
    ],
    fallback: {},
    acceptStatus: 200,
    handshakes: [hubChallenge],
  },
  {
    name: "x",
    title: "X",
    aliases: ["twitter"],
    setup: "Developer portal, Account Activity. `secret` is the consumer (API) secret.",
    schemes: [hmac("x-twitter-webhooks-signature", { prefix: "sha256=", encoding: "base64" })],
    id: [],
    fallback: {},
    acceptStatus: 200,
    handshakes: [crc],
  },
  {
    name: "zoom",
    title: "Zoom",
    setup: "Marketplace, App, Event subscriptions. `secret` is the secret token.",
    schemes: [
      hmac("x-zm-signature", {
        content: "v0:{timestamp}:{body}",
        prefix: "v0=",
        timestamp: stamp("header:x-zm-request-timestamp", "s"),
      }),
    ],
    id: [],
    fallback: {},
    acceptStatus: 200,
    handshakes: [zoomValidation],
  },
  {
    name: "twitch",
    title: "Twitch EventSub",
    setup: "Create EventSub Subscription, transport `webhook`. `secret` is the transport's secret.",
    schemes: [{
      ...hmac("twitch-eventsub-message-signature", {
        content: "{id}{timestamp}{body}",
        prefix: "sha256=",
        timestamp: stamp("header:twitch-eventsub-message-timestamp", "rfc3339", 600),
      }),
      id: ["header:twitch-eventsub-message-id"],
    }],
    id: ["header:twitch-eventsub-message-id"],
    fallback: { eventType: "twitch-eventsub-subscription-type" },
    acceptStatus: 200,
    handshakes: [twitchChallenge],
  },
  {
    name: "telegram",
    title: "Telegram",
    setup: "setWebhook. `secret` is its `secret_token`.",
    schemes: [{ type: "token", from: ["header:x-telegram-bot-api-secret-token"] }],
    id: ["body:/update_id"],
    fallback: {},
    acceptStatus: 200,
    acceptBody: "empty",
  },
];
