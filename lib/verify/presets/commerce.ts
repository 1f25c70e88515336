import { hmac, hmacItems, type Preset, stamp } from "../preset.ts";

/** Fields of an Adyen item that are signed, in their order (Adyen, "Verify HMAC signatures"). */
const ADYEN_CONTENT = [
  ...["pspReference", "originalReference", "merchantAccountCode", "merchantReference"],
  ...["amount/value", "amount/currency", "eventCode", "success"],
].map((field) => `{body:/NotificationRequestItem/${field}?}`).join(":");

/** Payments, banks and shops. */
export const COMMERCE: readonly Preset[] = [
  {
    name: "stripe",
    title: "Stripe",
    setup: "Workbench, Webhooks. `secret` is the whole signing secret with its `whsec_`.",
    schemes: [
      hmacItems("stripe-signature", "v1", {
        content: "{timestamp}.{body}",
        timestamp: stamp("item:t", "s", 300),
      }),
    ],
    id: ["body:/id"],
    fallback: {},
    acceptStatus: 200,
  },
  {
    name: "shopify",
    title: "Shopify",
    setup: "App or Settings, Notifications, Webhooks. `secret` is the app's client secret.",
    schemes: [hmac("x-shopify-hmac-sha256", { encoding: "base64" })],
    id: [
      "header:x-shopify-webhook-id",
      { parts: ["header:x-shopify-event-id", "header:x-shopify-topic"], join: ":" },
    ],
    fallback: { eventType: "x-shopify-topic" },
    acceptStatus: 200,
  },
  {
    name: "paddle",
    title: "Paddle",
    setup: "Developer tools, Notifications. `secret` is the destination's secret key.",
    schemes: [
      hmacItems("paddle-signature", "h1", {
        content: "{timestamp}:{body}",
        separator: ";",
        timestamp: stamp("item:ts", "s", 5),
      }),
    ],
    id: ["body:/event_id"],
    fallback: {},
    acceptStatus: 200,
    note: "5 seconds are Paddle's own tolerance; behind a slow proxy raise `timestampTolerance`.",
  },
  {
    name: "square",
    title: "Square",
    setup: "Developer console, Webhooks. `secret` is the subscription's signature key.",
    schemes: [
      hmac("x-square-hmacsha256-signature", { content: "{url}{body}", encoding: "base64" }),
    ],
    id: ["body:/event_id"],
    fallback: {},
    acceptStatus: 200,
    note: "Signs the address: it must be registered exactly as `PUBLIC_URL` and path give it.",
  },
  {
    name: "paypal",
    title: "PayPal",
    setup: "Developer dashboard, App, Webhooks. No `secret`.",
    schemes: [],
    unverified: "PayPal signs with a certificate that has to be fetched: verify at the backend",
    id: ["body:/id"],
    fallback: {},
    acceptStatus: 200,
  },
  {
    name: "adyen",
    title: "Adyen (standard notifications)",
    setup: "Developers, Webhooks, Standard. `secret` is the HMAC key (64 hex digits).",
    schemes: [{
      ...hmac("", { key: "hex", content: ADYEN_CONTENT, encoding: "base64" }),
      signature: ["body:/NotificationRequestItem/additionalData/hmacSignature"],
      each: "/notificationItems",
    }],
    id: [{
      parts: [
        "body:/NotificationRequestItem/pspReference",
        "body:/NotificationRequestItem/eventCode",
        "body:/NotificationRequestItem/success",
      ],
      join: ":",
      each: "/notificationItems",
    }],
    fallback: {},
    acceptStatus: 200,
    acceptBody: { contentType: "text/plain", body: "[accepted]" },
  },
  {
    name: "adyen-platform",
    title: "Adyen (platforms)",
    setup: "Balance platform, Webhooks. `secret` is the HMAC key (64 hex digits).",
    schemes: [hmac("hmacsignature", { key: "hex", encoding: "base64" })],
    id: [],
    fallback: {},
    acceptStatus: 200,
  },
  {
    name: "coinbase-commerce",
    title: "Coinbase Commerce",
    setup: "Settings, Notifications. `secret` is the webhook shared secret.",
    schemes: [hmac("x-cc-webhook-signature")],
    id: ["body:/event/id"],
    fallback: {},
    acceptStatus: 200,
  },
  {
    name: "plaid",
    title: "Plaid",
    setup: "Dashboard, Webhooks. `secret` is the JSON Web Key of `/webhook_verification_key/get`.",
    schemes: [{
      type: "jwt",
      algorithm: "ES256",
      key: "jwk",
      header: "plaid-verification",
      bodyHashClaim: "request_body_sha256",
      issuedWithinMs: 300_000,
    }],
    id: [],
    fallback: "off",
    acceptStatus: 200,
    note: "Plaid rotates its keys: list the new one beside the old one, or verify at the backend.",
  },
];
