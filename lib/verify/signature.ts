import { readJson } from "../decide/event_id.ts";
import type { RequestHead } from "../model.ts";
import type { SignatureScheme } from "../signature_scheme.ts";
import { sameBytes, utf8 } from "./bytes.ts";
import { type Key, readKey } from "./key.ts";
import { needsWholeMessage, startRun } from "./mac.ts";
import {
  atPointer,
  formFields,
  headerValue,
  isForm,
  type RequestView,
  sourceName,
} from "./request_view.ts";
import { type Claim, readClaim, readSignatures } from "./signature_claim.ts";
import { readTemplate, type SignedContent, type Template } from "./signed_content.ts";
import { type BodyCheck, isRefusal, PASSED, refuse, tooLarge, type Verdict } from "./verdict.ts";

/** A key and, where the sender names its keys, the name. */
export interface NamedKey {
  name: string;
  key: Key;
}

/** Keys of those secrets that fit the scheme; the others belong to another scheme or to none. */
export function keysOf(scheme: SignatureScheme, secrets: readonly string[]): NamedKey[] {
  return secrets.flatMap((secret) => {
    const colon = scheme.keyIdHeader === undefined ? -1 : secret.indexOf(":");
    if (scheme.keyIdHeader !== undefined && colon < 1) return [];
    const key = readKey(scheme.algorithm, scheme.key, secret.slice(colon + 1));
    return key === undefined ? [] : [{ name: secret.slice(0, Math.max(0, colon)), key }];
  });
}

/** A scheme with its keys, made ready at start. */
export class SignatureVerifier {
  readonly #scheme: SignatureScheme;
  readonly #keys: readonly NamedKey[];
  readonly #template: Template;
  /** Values are taken out of a JSON body. */
  readonly #readsJson: boolean;

  /** Throws on a template that `readTemplate` refuses; the configuration is checked before. */
  constructor(scheme: SignatureScheme, keys: readonly NamedKey[]) {
    const template = readTemplate(scheme.signedContent);
    if (typeof template === "string") throw new Error(`cannot use signedContent: it ${template}`);
    this.#scheme = scheme;
    this.#keys = keys;
    this.#template = template;
    const sources = [...scheme.signature, ...(scheme.timestamp?.from ?? []), ...(scheme.id ?? [])];
    this.#readsJson = scheme.each !== undefined || scheme.signedContent.includes("{body:/") ||
      sources.some((source) => source.startsWith("body:"));
  }

  /** Starts a check; a verdict at once where the head alone refuses. */
  begin(head: RequestHead, nowMs: number): BodyCheck | Verdict {
    const keys = this.#keysFor(head);
    if (keys.length === 0) return refuse("bad_signature", "no configured secret fits");
    if (!this.needsWhole(head)) return this.#beginStreamed(head, keys, nowMs);
    const early = this.#scheme.signature[0].startsWith("header:")
      ? readSignatures(this.#scheme, { head })
      : PASSED;
    if (isRefusal(early)) return early;
    return {
      update: () => {},
      finish: (whole) =>
        whole === undefined
          ? tooLarge("the signature can only be checked on a whole body")
          : this.#checkWhole(head, whole, keys, nowMs),
    };
  }

  /** Whether this request can be verified only with its body whole in memory. */
  needsWhole(head: RequestHead): boolean {
    return this.#readsJson || this.#template.readsBody ||
      needsWholeMessage(this.#scheme.algorithm) ||
      (this.#scheme.formField !== undefined && isForm(head));
  }

  #keysFor(head: RequestHead): readonly NamedKey[] {
    const { keyIdHeader } = this.#scheme;
    if (keyIdHeader === undefined) return this.#keys;
    const name = utf8(headerValue(head, keyIdHeader.toLowerCase()) ?? "");
    return this.#keys.filter((key) => sameBytes(utf8(key.name), name));
  }

  #beginStreamed(head: RequestHead, keys: readonly NamedKey[], nowMs: number) {
    const claim = readClaim(this.#scheme, this.#template, { head }, nowMs);
    if (isRefusal(claim)) return claim;
    const runs = startRuns(this.#scheme, keys, claim);
    return {
      update: (chunk: Uint8Array) => runs.forEach((run) => run.update(chunk)),
      finish: () => this.#verdict(runs),
    };
  }

  #checkWhole(
    head: RequestHead,
    whole: Uint8Array,
    keys: readonly NamedKey[],
    nowMs: number,
  ): Verdict {
    const body = this.#signedBody(head, whole);
    if (body === undefined) {
      return refuse("bad_signature", `the form has no field ${this.#scheme.formField}`);
    }
    const view = { head, body, json: this.#readsJson ? readJson(body) : undefined };
    const items = this.#items(view);
    if (items.length === 0) {
      return refuse("missing_signature", `${this.#scheme.each} of the body is not a filled list`);
    }
    const verdicts = items.map((item) => this.#checkItem({ ...view, item }, body, keys, nowMs));
    return verdicts.find((verdict) => !verdict.ok) ?? PASSED;
  }

  #checkItem(view: RequestView, body: Uint8Array, keys: readonly NamedKey[], nowMs: number) {
    const claim = readClaim(this.#scheme, this.#template, view, nowMs);
    if (isRefusal(claim)) return claim;
    const runs = startRuns(this.#scheme, keys, claim);
    runs.forEach((run) => run.update(body));
    return this.#verdict(runs);
  }

  #signedBody(head: RequestHead, whole: Uint8Array): Uint8Array | undefined {
    const { formField } = this.#scheme;
    if (formField === undefined || !isForm(head)) return whole;
    const field = formFields(head, whole)?.get(formField);
    return field === undefined || field === null ? undefined : utf8(field);
  }

  /** What carries a signature: the items of a list, or the request itself. */
  #items(view: RequestView) {
    if (this.#scheme.each === undefined) return [undefined];
    const items = atPointer(view.json, this.#scheme.each);
    return Array.isArray(items) ? items : [];
  }

  #verdict(runs: readonly ContentRun[]): Verdict {
    if (runs.map((run) => run.matches()).includes(true)) return PASSED;
    const name = sourceName(this.#scheme.signature[0]);
    return refuse("bad_signature", `${name} is not the signature of this request`);
  }
}

/** One key over one content. */
interface ContentRun {
  update(chunk: Uint8Array): void;
  matches(): boolean;
}

function startRuns(scheme: SignatureScheme, keys: readonly NamedKey[], claim: Claim): ContentRun[] {
  return keys.flatMap(({ key }) =>
    claim.contents.map((content) => startContentRun(scheme, key, claim.signatures, content))
  );
}

function startContentRun(
  scheme: SignatureScheme,
  key: Key,
  signatures: readonly Uint8Array[],
  content: SignedContent,
): ContentRun {
  const run = startRun(scheme.algorithm, key, signatures);
  run.update(content.before);
  return {
    update: (chunk) => content.withBody ? run.update(chunk) : undefined,
    matches() {
      run.update(content.after);
      return run.matches();
    },
  };
}
