import type { FailureCode } from "../model.ts";

/** Error codes of sockets, name resolution and undici, by what they mean for an attempt. */
const CODES: Readonly<Record<string, FailureCode>> = {
  ECONNREFUSED: "refused",
  ECONNRESET: "reset",
  ECONNABORTED: "reset",
  EPIPE: "reset",
  ENETUNREACH: "unreachable",
  EHOSTUNREACH: "unreachable",
  ENETDOWN: "unreachable",
  EADDRNOTAVAIL: "unreachable",
  ETIMEDOUT: "timeout",
  UND_ERR_ABORTED: "aborted",
  UND_ERR_CLOSED: "aborted",
  UND_ERR_DESTROYED: "aborted",
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: "payload_missing",
};

/** undici's two words for a connection that ended while an answer was awaited. */
const ENDED = /^(other side )?closed$/;

/** A connection that could not be made, as the error that undici's callback wants. */
export class DialFailure extends Error {
  override name = "DialFailure";
  constructor(readonly failure: FailureCode) {
    super(`cannot connect: ${failure}`);
  }
}

/** The stored body could not be read to its end. */
export class BodyFailure extends Error {
  override name = "BodyFailure";
}

/** The short code of an attempt's error; whatever is not known was not HTTP: `protocol`. */
export function failureCode(error: Error): FailureCode {
  if (error instanceof DialFailure) return error.failure;
  if (error instanceof BodyFailure) return "payload_missing";
  const code = errorCode(error);
  if (code === "UND_ERR_SOCKET" && ENDED.test(error.message)) return "reset";
  if (error instanceof Deno.errors.InvalidData) return "tls"; // how Deno words TLS alerts
  if (error instanceof Deno.errors.UnexpectedEof) return "reset";
  return CODES[code] ?? "protocol";
}

/** The `code` that Node-style errors carry; empty where there is none. */
export function errorCode(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "";
}
