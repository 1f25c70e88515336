import type { JsonValue } from "../decide/event_id.ts";
import { problem, PROBLEMS } from "../errors.ts";
import type { ProblemCode } from "../errors.ts";
import type { HeaderList, RequestHead } from "../model.ts";

/** What a handshake is answered with; nothing is stored. */
export interface HandshakeAnswer {
  status: number;
  headers: HeaderList;
  /** `null` where there is none: an answer 204 must not even have an empty one. */
  body: string | null;
  /** What the operator must be told. May hold a key that the sender made: not for the log. */
  report?: string;
  /** Set where the handshake is refused; `status` is its status. */
  refused?: { code: ProblemCode; detail: string };
}

/** What a handshake may look at. */
export interface Challenge {
  head: RequestHead;
  query: URLSearchParams;
  secrets: readonly string[];
  verifyToken?: string;
}

/** A challenge in a body, with the body's content taken apart where it has the form. */
export interface BodyChallenge extends Challenge {
  json: JsonValue | undefined;
  form: URLSearchParams | undefined;
  /** Of a rotation's secrets the one that signed this request. */
  secret(): string | undefined;
}

/** One way a sender asks whether the address is ours. Matched on structure, never on text. */
export interface Handshake {
  name: string;
  /** Challenges in method, query or headers; asked before anything else. */
  inHead?(challenge: Challenge): HandshakeAnswer | undefined;
  /** Challenges in a body; asked after verification. */
  inBody?(challenge: BodyChallenge): HandshakeAnswer | undefined;
  /** The sender never signs it: such a body is looked at although its signature is missing. */
  unsigned?: true;
  /** Requests whose failed verification is answered 403, as the sender expects. */
  refusedAs403?(head: RequestHead): boolean;
}

/** Echoes a challenge, which may hold markup: as plain text, and the door forbids sniffing. */
export function textAnswer(body: string): HandshakeAnswer {
  return { status: 200, headers: [["content-type", "text/plain"]], body };
}

export function jsonAnswer(value: unknown): HandshakeAnswer {
  const headers: HeaderList = [["content-type", "application/json"]];
  return { status: 200, headers, body: JSON.stringify(value) };
}

export function emptyAnswer(headers: HeaderList = [], report?: string): HandshakeAnswer {
  return { status: 200, headers, body: null, report };
}

/** Refuses a handshake; `fact` is the end of "cannot answer handshake: …". */
export function refusedAnswer(code: ProblemCode, fact: string): HandshakeAnswer {
  const refused = problem(code, `cannot answer handshake: ${fact}`);
  return { status: PROBLEMS[code][0], headers: [], body: null, refused };
}
