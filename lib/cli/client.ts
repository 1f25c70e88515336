import { EXIT, Failure } from "./exit.ts";

/** A refusal as the API writes it (RFC 9457). */
interface ProblemDocument {
  code?: string;
  detail?: string;
}

export interface Call {
  method?: "GET" | "POST";
  query?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** A relay that has not begun to answer by then is not reachable. */
const ANSWER_MS = 30_000;

/** The operator's API of one relay. */
export class Client {
  readonly #origin: string;
  readonly #token: string | undefined;

  constructor(origin: string, token: string | undefined) {
    this.#origin = origin;
    this.#token = token;
  }

  /** Calls a route under `/api/v1` and reads its JSON. Throws `Failure`. */
  async call<T>(path: string, call: Call = {}): Promise<T> {
    const response = await this.open(path, call);
    return await response.json().catch(() => {
      throw new Failure(EXIT.failed, `cannot read the answer of ${this.#origin}: it is not JSON`);
    });
  }

  /** Calls a route under `/api/v1` and leaves the body to the caller. Throws `Failure`. */
  async open(path: string, { method = "GET", query, body, headers }: Call = {}) {
    if (this.#token === undefined) {
      throw new Failure(EXIT.unauthorised, "cannot ask the relay: ADMIN_TOKEN is not set");
    }
    const response = await this.fetch(`/api/v1${path}${queryText(query)}`, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...body === undefined ? {} : { "content-type": "application/json" },
        ...headers,
      },
    });
    if (!response.ok) throw await refusal(response);
    return response;
  }

  /** Sends any request to the relay. Throws `Failure` where nobody answers. */
  async fetch(path: string, init: Omit<RequestInit, "signal" | "redirect">): Promise<Response> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), ANSWER_MS);
    try {
      // A redirect could carry the token to somebody else.
      return await fetch(this.#origin + path, { ...init, redirect: "manual", signal: late.signal });
    } catch (error) {
      const why = late.signal.aborted
        ? `no answer within ${ANSWER_MS / 1_000} s`
        : causeOf(error as Error);
      throw new Failure(EXIT.unreachable, `cannot reach the relay at ${this.#origin}: ${why}`);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Turns a refusing answer into a failure: the relay's own sentence, and its code. */
export async function refusal(response: Response): Promise<Failure> {
  const { status } = response;
  const document: ProblemDocument = await response.json().catch(() => ({}));
  const { code, detail } = document;
  const closed = status === 401 || code === "admin_disabled";
  const hint = status === 401 ? " (ADMIN_TOKEN is not the relay's)" : "";
  const said = detail === undefined
    ? `the relay answered ${status}`
    : `${detail} [${status} ${code ?? "no code"}]${hint}`;
  return new Failure(closed ? EXIT.unauthorised : EXIT.failed, said);
}

function queryText(query: Call["query"] = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] =>
    entry[1] !== undefined
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

/** The kind of failure, from the words of the runtime's error and its causes. */
function causeOf(error: Error): string {
  let text = "";
  for (let at: unknown = error; at instanceof Error; at = at.cause) text += at.message;
  if (/refused/i.test(text)) return "connection refused";
  if (/dns error/i.test(text)) return "its name is unknown";
  if (/certificate|tls/i.test(text)) return "its certificate is not trusted";
  return "the connection failed";
}
