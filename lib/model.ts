/**
 * The words of the domain. A delivery is one accepted request; its record changes only
 * through the store's write door, its payload never changes after it is stored.
 */

export type DeliveryState = "pending" | "in_flight" | "delivered" | "dead";

export type DeadReason = "rejected" | "redirect" | "exhausted" | "expired" | "cancelled";

/** Why an attempt got no usable answer, or why it was not made at all. */
export type FailureCode =
  | "timeout"
  | "refused"
  | "reset"
  | "closed"
  | "unreachable"
  | "dns"
  | "tls"
  | "blocked_address"
  | "protocol"
  | "payload_missing"
  | "aborted"
  /** The process that made it ended before it could say; the target may have got it. */
  | "lost";

export type AttemptOutcome = "delivered" | "retry" | "dead" | "refunded";

/** One try at the target, as it is shown to operators. */
export interface Attempt {
  /** Position in the delivery's whole life, from 1; goes on over replays. */
  n: number;
  atMs: number;
  /** Duration until the answer's head or the failure, in milliseconds. */
  ms: number;
  status?: number;
  code?: FailureCode;
  /** Where a redirect pointed, with the target's own path segments masked. */
  location?: string;
  outcome: AttemptOutcome;
  retryAtMs?: number;
}

/** The process that works on a delivery; the lease ends at the record's `dueAtMs`. */
export interface Lease {
  owner: string;
  /** When the delivery was claimed. */
  atMs: number;
}

/** A budget of attempts: the first one, each replay and each revival open a new round. */
export interface Round {
  /** Attempts made in earlier rounds; they count no more. */
  attemptsBefore: number;
  /** Refunded attempts of this round; they count neither. */
  refunds: number;
  /** Time of this round's first attempt; `maxAge` counts from here. */
  startedAtMs?: number;
}

export interface Delivery {
  id: string;
  endpoint: string;
  eventId: string;
  state: DeliveryState;
  reason?: DeadReason;
  method: string;
  /** What follows `/hook/:endpoint`, as sent: empty or starting with a slash. */
  path: string;
  /** Raw query without its question mark; empty if there was none. */
  query: string;
  bytes: number;
  /** Rows the payload takes: row 0 and `chunks - 1` further ones. */
  chunks: number;
  /** Hex SHA-256 of the body. */
  sha256: string;
  acceptedAtMs: number;
  /** Time of the one due entry. Present exactly while `pending` or `in_flight`. */
  dueAtMs?: number;
  settledAtMs?: number;
  lease?: Lease;
  /** The target itself asked for no attempt before this time (Retry-After). */
  notBeforeMs?: number;
  /** Attempts ever made, refunded ones included. */
  attemptCount: number;
  /** The last `LIMITS.attemptsKept` of them. */
  attempts: Attempt[];
  replays: number;
  round: Round;
}

/** Header lines in order: lower-case names, values as Latin-1 text (one char a byte). */
export type HeaderList = ReadonlyArray<readonly [name: string, value: string]>;

/** Row 0 of a stored request: everything but the further body chunks. Never rewritten. */
export interface PayloadHead {
  /** The delivery's endpoint, so that an id alone leads to its record. */
  endpoint: string;
  method: string;
  path: string;
  query: string;
  headers: HeaderList;
  /** The body's first bytes; all of them where `chunks` is 1. */
  body: Uint8Array;
}

/** A request at the door, before its body is read. */
export interface RequestHead {
  method: string;
  /** What follows `/hook/:endpoint`, undecoded. */
  path: string;
  /** Raw query without its question mark. */
  query: string;
  /** The URL the sender called: public origin, raw path, raw query. */
  url: string;
  headers: HeaderList;
}
