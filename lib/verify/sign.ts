import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import type { HeaderList } from "../model.ts";
import type { BodyPieces } from "./sender.ts";

/** Standard Webhooks writes symmetric secrets as this prefix and base64. */
const SECRET_PREFIX = "whsec_";

/**
 * The relay's own signature of one attempt, in the form of Standard Webhooks
 * (https://www.standardwebhooks.com, "Signature scheme"): `v1,` and base64 HMAC-SHA256
 * over `id.timestamp.body`, with the delivery's id and the attempt's time in seconds.
 */
export async function signDelivery(
  secret: string,
  deliveryId: string,
  body: BodyPieces,
  atMs: number,
): Promise<HeaderList> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const key = secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), "base64")
    : Buffer.from(secret, "utf8");
  const hmac = createHmac("sha256", key).update(`${deliveryId}.${timestamp}.`);
  for await (const piece of body) hmac.update(piece);
  return [
    ["holdfast-timestamp", timestamp],
    ["holdfast-signature", `v1,${hmac.digest("base64")}`],
  ];
}
