/**
 * Every way a request can be refused: one code, one status, one title. Details say
 * "cannot <verb> <object>: <field> is <value>" and never contain a secret.
 */
export const PROBLEMS = {
  bad_host: [400, "Bad Host header"],
  bad_framing: [400, "Bad message framing"],
  bad_parameter: [400, "Bad parameter"],
  body_incomplete: [400, "Body incomplete"],
  unauthorized: [401, "Unauthorized"],
  missing_signature: [401, "Signature missing"],
  bad_signature: [401, "Signature does not match"],
  malformed_signature: [401, "Signature malformed"],
  missing_timestamp: [401, "Timestamp missing"],
  malformed_timestamp: [401, "Timestamp malformed"],
  expired_timestamp: [401, "Timestamp too old"],
  future_timestamp: [401, "Timestamp in the future"],
  forbidden: [403, "Forbidden"],
  payload_hidden: [403, "Payload hidden"],
  target_not_allowed: [403, "Target not allowed"],
  handshake_refused: [403, "Handshake refused"],
  csrf_refused: [403, "Cross-site request refused"],
  not_found: [404, "Not found"],
  unknown_endpoint: [404, "Unknown endpoint"],
  unknown_delivery: [404, "Unknown delivery"],
  unknown_job: [404, "Unknown job"],
  method_not_allowed: [405, "Method not allowed"],
  body_timeout: [408, "Body timed out"],
  wrong_state: [409, "Wrong state"],
  payload_too_large: [413, "Payload too large"],
  target_too_long: [414, "Request target too long"],
  headers_too_large: [431, "Headers too large"],
  rate_limited: [429, "Too many requests"],
  internal: [500, "Internal error"],
  admin_disabled: [503, "Operator surface disabled"],
  store_unavailable: [503, "Store unavailable"],
  stopping: [503, "Stopping"],
  loop_detected: [508, "Loop detected"],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ProblemCode = keyof typeof PROBLEMS;

/** An expected refusal, as a value: `code` decides status and title. */
export interface Problem {
  code: ProblemCode;
  detail: string;
}

/** Makes a refusal. `detail` is shown to whoever asked: no secrets. */
export function problem(code: ProblemCode, detail: string): Problem {
  return { code, detail };
}

/** The store could not be read or written within its budget. An outage, so it is thrown. */
export class StoreUnavailable extends Error {
  override name = "StoreUnavailable";
}
