import { JsonNumber, type JsonValue, walk } from "../decide/event_id.ts";
import { encodeText, sameBytes, utf8 } from "./bytes.ts";
import { emptyAnswer, type Handshake, jsonAnswer, refusedAnswer, textAnswer } from "./handshake.ts";
import { startHmac } from "./mac.ts";
import { headerValue } from "./request_view.ts";
import { beginToken } from "./token.ts";
import { isVerdict } from "./verdict.ts";

/** Every handshake of the presets; presets.ts says who uses which. */

const textAt = (json: JsonValue | undefined, ...path: string[]): string | undefined => {
  const value = walk(json, path);
  return typeof value === "string" ? value : undefined;
};

const keysOf = (json: JsonValue | undefined): string[] =>
  json !== null && typeof json === "object" && !Array.isArray(json) ? Object.keys(json) : [];

const hmac = (secret: string, text: string) =>
  startHmac("hmac-sha256", utf8(secret)).update(text, "utf8").digest();

/** GET with a parameter that comes back as text. Dropbox. */
export const echoChallenge: Handshake = {
  name: "challenge by GET",
  inHead({ head, query }) {
    const challenge = query.get("challenge");
    return head.method !== "GET" || challenge === null ? undefined : textAnswer(challenge);
  },
};

/** Any method, as Microsoft Graph asks by POST; the parameter is decoded exactly once. */
export const validationToken: Handshake = {
  name: "validationToken by POST",
  inHead({ query }) {
    const token = query.get("validationToken");
    return token === null ? undefined : textAnswer(token);
  },
};

/** WebSub's form with a token that both sides know: Meta, WhatsApp. */
export const hubChallenge: Handshake = {
  name: "hub.challenge by GET",
  inHead({ head, query, verifyToken = "" }) {
    if (head.method !== "GET" || query.get("hub.mode") !== "subscribe") return undefined;
    const given = utf8(query.get("hub.verify_token") ?? "");
    if (verifyToken === "" || !sameBytes(given, utf8(verifyToken))) {
      return refusedAnswer("handshake_refused", "hub.verify_token is not the verifyToken");
    }
    return textAnswer(query.get("hub.challenge") ?? "");
  },
};

/** X asks for an HMAC of a token of its choice, hourly; only GET, so that no event is taken for it. */
export const crc: Handshake = {
  name: "CRC by GET",
  inHead({ head, query, secrets }) {
    if (head.method !== "GET") return undefined;
    const token = query.get("crc_token");
    if (token === null) return refusedAnswer("bad_parameter", "crc_token is missing");
    if (secrets.length === 0) return refusedAnswer("handshake_refused", "no secret is configured");
    const response = encodeText("base64", hmac(secrets[0], token));
    return jsonAnswer({ response_token: `sha256=${response}` });
  },
};

export const urlVerification: Handshake = {
  name: "url_verification",
  inBody({ json }) {
    const challenge = textAt(json, "challenge");
    return textAt(json, "type") !== "url_verification" || challenge === undefined
      ? undefined
      : textAnswer(challenge);
  },
};

/** Slack's probe of a slash command's certificate; it carries no signature. */
export const sslCheck: Handshake = {
  name: "ssl_check",
  unsigned: true,
  inBody: ({ form }) => form?.get("ssl_check") === "1" ? emptyAnswer() : undefined,
};

export const discordPing: Handshake = {
  name: "PING",
  inBody: ({ json }) => isNumber(walk(json, ["type"]), "1") ? jsonAnswer({ type: 1 }) : undefined,
};

/** Discord's event webhooks want 204, no body and yet a content type. */
export const discordEventsPing: Handshake = {
  name: "PING",
  inBody: ({ json }) =>
    isNumber(walk(json, ["type"]), "0")
      ? { status: 204, headers: [["content-type", "application/json"]], body: null }
      : undefined,
};

const isNumber = (value: JsonValue | undefined, source: string) =>
  value instanceof JsonNumber && value.source === source;

/** Zoom wants the HMAC of its token; only signed requests get one, or it would be an oracle. */
export const zoomValidation: Handshake = {
  name: "endpoint.url_validation",
  inBody(challenge) {
    const { json } = challenge;
    const plainToken = textAt(json, "payload", "plainToken");
    if (textAt(json, "event") !== "endpoint.url_validation" || plainToken === undefined) {
      return undefined;
    }
    const secret = challenge.secret();
    if (secret === undefined) return refusedAnswer("handshake_refused", "no secret is configured");
    return jsonAnswer({
      plainToken,
      encryptedToken: encodeText("hex", hmac(secret, plainToken)),
    });
  },
};

/** Notion sends its key once, unsigned, while there is no secret yet; the operator configures it. */
export const notionToken: Handshake = {
  name: "verification_token",
  inBody({ json, secrets }) {
    const token = textAt(json, "verification_token");
    if (secrets.length > 0 || token === undefined || keysOf(json).length !== 1) return undefined;
    return emptyAnswer(
      [],
      `Notion sent the verification token ${token}: paste it into Notion and configure it as secret`,
    );
  },
};

export const mondayChallenge: Handshake = {
  name: "challenge by POST",
  unsigned: true,
  inBody({ json }) {
    const challenge = textAt(json, "challenge");
    return challenge === undefined || keysOf(json).length !== 1
      ? undefined
      : jsonAnswer({ challenge });
  },
};

/** Asana makes the key itself. Once a secret is configured nobody may bring another one. */
export const hookSecret: Handshake = {
  name: "X-Hook-Secret",
  inHead({ head, secrets }) {
    const key = headerValue(head, "x-hook-secret");
    if (key === undefined) return undefined;
    if (secrets.length > 0) {
      return refusedAnswer("handshake_refused", "a secret is configured already");
    }
    return emptyAnswer(
      [["x-hook-secret", key]],
      `Asana sent the key ${key}: configure it as secret`,
    );
  },
};

export const headProbe: Handshake = {
  name: "HEAD",
  inHead: ({ head }) => head.method === "HEAD" ? emptyAnswer() : undefined,
};

/** Okta sends its authorisation header here, too. */
export const oktaChallenge: Handshake = {
  name: "verification by GET",
  inHead({ head, secrets }) {
    const verification = headerValue(head, "x-okta-verification-challenge");
    if (head.method !== "GET" || verification === undefined) return undefined;
    const verdict = secrets.length === 0
      ? { ok: true as const }
      : beginToken({ type: "token", from: ["header:authorization"] }, secrets, head);
    if (isVerdict(verdict) && verdict.ok) return jsonAnswer({ verification });
    return refusedAnswer("unauthorized", "authorization is not the configured secret");
  },
};

const TWITCH_TYPE = "twitch-eventsub-message-type";

export const twitchChallenge: Handshake = {
  name: "webhook_callback_verification",
  inBody({ head, json }) {
    const challenge = textAt(json, "challenge");
    return headerValue(head, TWITCH_TYPE) === "webhook_callback_verification" &&
        challenge !== undefined
      ? textAnswer(challenge)
      : undefined;
  },
  refusedAs403: (head) => headerValue(head, TWITCH_TYPE) === "webhook_callback_verification",
};

/** LINE's console checks an address with a signed list of no events; it insists on 200. */
export const lineVerify: Handshake = {
  name: "verify",
  inBody({ json }) {
    const events = walk(json, ["events"]);
    return Array.isArray(events) && events.length === 0 ? emptyAnswer() : undefined;
  },
};

/** Host of SNS's own addresses, as the AWS SDK's message validator accepts them. */
const SNS_HOST = /^sns\.[a-zA-Z0-9-]{3,}\.amazonaws\.com(\.cn)?$/;

/**
 * SNS wants the URL in the body fetched. That is the operator's order to give: the message's
 * RSA signature is not checked here. `verifyToken` pins the topic.
 */
export const snsConfirmation: Handshake = {
  name: "SubscriptionConfirmation",
  inBody({ head, json, verifyToken }) {
    if (headerValue(head, "x-amz-sns-message-type") !== "SubscriptionConfirmation") {
      return undefined;
    }
    const topic = textAt(json, "TopicArn");
    const url = textAt(json, "SubscribeURL");
    if (url === undefined || !URL.canParse(url) || !isSnsUrl(new URL(url))) {
      return refusedAnswer("handshake_refused", "SubscribeURL is not an address of SNS");
    }
    if (verifyToken !== undefined && topic !== verifyToken) {
      return refusedAnswer("handshake_refused", "TopicArn is not the verifyToken");
    }
    return emptyAnswer([], `SNS asks to confirm the subscription to ${topic}: open ${url}`);
  },
};

const isSnsUrl = (url: URL) => url.protocol === "https:" && SNS_HOST.test(url.host);
