import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import { read } from "../helpers/operator.ts";
import type { Relay } from "../helpers/program.ts";

/** The parts of the document that tests look at. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
}

export interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  schema: Schema;
}

export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  format?: string;
  properties?: Record<string, Schema>;
}

/** Reads the document as anybody may. */
export async function readDocument(relay: Relay): Promise<Document> {
  return await (await fetch(`${relay.origin}/openapi.json`)).json();
}

/** Holds answers against the document, as a generated client would read them. */
export class Contract {
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });

  constructor(document: Document) {
    this.#document = document;
    this.#ajv.addSchema({ $id: "doc", ...document });
  }

  /** Fails unless the answer of this route and status is what the document says. */
  check(method: string, path: string, status: number, type: string, body: unknown): void {
    const responses = this.#document.paths[path]?.[method]?.responses;
    assert(responses !== undefined, `${method} ${path} is not in the document`);
    const known = String(status) in responses ? String(status) : "default";
    const media = type.split(";")[0];
    assert(responses[known]?.content?.[media] !== undefined, `${path} ${status} ${media}`);
    const parts = ["paths", path, method, "responses", known, "content", media, "schema"];
    const pointer = parts.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");
    const valid = this.#ajv.validate({ $ref: `doc#/${encodeURI(pointer)}` }, body);
    assert(valid, `${method} ${path}: ${this.#ajv.errorsText()} in ${JSON.stringify(body)}`);
  }

  /** Asks a route and holds its JSON answer against the document. */
  async ask<T>(relay: Relay, method: string, path: string, url: string, body?: unknown) {
    const response = await relay.asOperator(url, {
      method: method.toUpperCase(),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await response.json() as T;
    const type = response.headers.get("content-type") ?? "";
    this.check(method, path, response.status, type, answer);
    return { status: response.status, body: answer };
  }
}

/** A contract with the document of a running relay. */
export async function contractOf(relay: Relay): Promise<Contract> {
  return new Contract(await readDocument(relay));
}

/** Reads an endpoint's view. */
export const endpointView = (relay: Relay, id: string): Promise<EndpointView> =>
  read(relay, `/endpoints/${id}`);

export interface CountsView {
  pending: number;
  inFlight: number;
  dead: number;
  lastHour: Record<string, number>;
}

export interface EndpointView {
  id: string;
  targetUrl: string;
  health: string;
  disabledBy?: string;
  paused: boolean;
  breaker: { state: string; until?: string; cause?: string };
  counts: CountsView;
  oldestPendingAt?: string;
  blockedBy?: { deliveryId: string; until?: string };
}

export interface ConditionView {
  type: string;
  severity: string;
  since: string;
  count: number;
  subject?: string;
  detail: string;
}

export interface StatusView {
  version: string;
  counts: CountsView;
  lanes: { endpoint: string; counts: CountsView }[];
  oldestPendingAt?: string;
  conditions: ConditionView[];
}

export interface JobView {
  id: string;
  state: "running" | "done" | "cancelled";
  total: number;
  done: number;
  skipped: number;
}
