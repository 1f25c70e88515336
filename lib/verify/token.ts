import { readJson } from "../decide/event_id.ts";
import type { RequestHead } from "../model.ts";
import type { BasicScheme, TokenScheme } from "../signature_scheme.ts";
import { decodeText, sameBytes, utf8 } from "./bytes.ts";
import { atPointer, findAll, headerValues, type RequestView, sourceName } from "./request_view.ts";
import { type BodyCheck, PASSED, refuse, tooLarge, type Verdict } from "./verdict.ts";

/** The secret itself, in a header or in the body. Blank secrets never match. */
export function beginToken(
  scheme: TokenScheme,
  secrets: readonly string[],
  head: RequestHead,
): BodyCheck | Verdict {
  if (scheme.from[0].startsWith("header:")) return checkToken(scheme, secrets, { head });
  return {
    update: () => {},
    finish: (whole) =>
      whole === undefined
        ? tooLarge("the token stands in the body")
        : checkBodyTokens(scheme, secrets, head, whole),
  };
}

function checkBodyTokens(
  scheme: TokenScheme,
  secrets: readonly string[],
  head: RequestHead,
  whole: Uint8Array,
): Verdict {
  const json = readJson(whole);
  const items = scheme.each === undefined ? [json] : atPointer(json, scheme.each);
  if (!Array.isArray(items) || items.length === 0) {
    return refuse("missing_signature", `${scheme.each} of the body is not a filled list`);
  }
  const verdicts = items.map((item) => checkToken(scheme, secrets, { head, json, item }));
  return verdicts.find((verdict) => !verdict.ok) ?? PASSED;
}

function checkToken(scheme: TokenScheme, secrets: readonly string[], view: RequestView): Verdict {
  const found = findAll(view, scheme.from);
  const name = sourceName(scheme.from[0]);
  if (found.length === 0) return refuse("missing_signature", `${name} is missing`);
  const match = found.some(({ bytes }) => holds(secrets, bytes));
  return match ? PASSED : refuse("bad_signature", `${name} is not the configured secret`);
}

/** Fields lose their outer white space on the way, so the secret's does not count either. */
function holds(secrets: readonly string[], bytes: Uint8Array): boolean {
  return secrets.map((secret) => secret.trim()).filter((secret) => secret !== "")
    .map((secret) => sameBytes(utf8(secret), bytes)).includes(true);
}

/** HTTP Basic, RFC 7617: user and password in UTF-8, the scheme's name in any case. */
export function beginBasic(
  scheme: BasicScheme,
  secrets: readonly string[],
  head: RequestHead,
): Verdict {
  const values = headerValues(head, scheme.header);
  if (values.length === 0) return refuse("missing_signature", `${scheme.header} is missing`);
  const credentials = values.map((value) => /^basic +(\S+)$/i.exec(value)?.[1])
    .map((text) => decodeText("base64", text ?? "")).filter((bytes) => bytes !== undefined);
  if (credentials.length === 0) {
    return refuse("malformed_signature", `${scheme.header} is not Basic and base64`);
  }
  const match = credentials.some((bytes) => holds(secrets, bytes));
  return match ? PASSED : refuse("bad_signature", `${scheme.header} is not the configured secret`);
}
