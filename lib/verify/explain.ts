import type { ProblemCode } from "../errors.ts";
import type { RequestHead } from "../model.ts";
import type { Scheme } from "../signature_scheme.ts";
import { type CapturedRequest, readCaptured } from "./captured.ts";
import { withTolerance } from "./custom.ts";
import type { Preset } from "./preset.ts";
import { presetOf } from "./presets.ts";
import { secretForm } from "./sender_faults.ts";
import { type Attempted, variationsOf } from "./variations.ts";
import { isVerdict, type Verdict } from "./verdict.ts";
import { fits, verifierFor } from "./verifier.ts";

/** Whether a captured request verifies and, if not, what most likely is the matter. */
export interface Explanation {
  verifies: boolean;
  code?: ProblemCode;
  /** One sentence; never a secret nor the expected value. */
  detail: string;
  /** Causes that were found by trying; empty where none was. */
  causes: readonly string[];
}

interface Question {
  /** The raw HTTP request: request line, header lines, blank line, body. */
  request: Uint8Array;
  provider: string;
  secrets: readonly string[];
  nowMs: number;
  /** The address the sender called, where host and target of the request are not it. */
  url?: string;
}

/**
 * Verifies a captured request offline. Where it fails, one part after the other is changed as
 * it commonly gets changed on the way (line breaks, JSON spacing, kind of secret, address,
 * sender, time): the change with which it verifies is the cause.
 */
export function verifyCaptured(question: Question): Explanation {
  const preset = presetOf(question.provider);
  if (preset === undefined) return undecided(`provider ${question.provider} is not known`);
  if (preset.unverified !== undefined) return undecided(preset.unverified);
  const request = readCaptured(question.request);
  if (typeof request === "string") return undecided(request);
  const head = question.url === undefined ? request.head : called(request.head, question.url);
  return explain(preset, { ...request, head }, question.secrets, question.nowMs);
}

function undecided(fact: string): Explanation {
  return { verifies: false, detail: `cannot verify request: ${fact}`, causes: [] };
}

function called(head: RequestHead, given: string): RequestHead {
  // Half a pair of UTF-16 cannot be escaped.
  const url = given.toWellFormed();
  const question = url.indexOf("?");
  return { ...head, url, query: question < 0 ? "" : url.slice(question + 1) };
}

function explain(
  preset: Preset,
  request: CapturedRequest,
  secrets: readonly string[],
  nowMs: number,
): Explanation {
  const { head, body } = request;
  const given: Attempted = { schemes: preset.schemes, secrets, url: head.url, body };
  const verdict = verdictOf(head, given, nowMs);
  if (verdict.ok) {
    return { verifies: true, detail: `the request is ${preset.title}'s`, causes: [] };
  }
  const { code, detail } = verdict;
  const seen = [...facts(preset, request, secrets), ...similarHeaders(head, code)];
  return { verifies: false, code, detail, causes: [...seen, ...causeOf(head, given, nowMs)] };
}

/** What can be seen without trying. */
function facts(preset: Preset, request: CapturedRequest, secrets: readonly string[]): string[] {
  const misfit = secrets.some((secret) => !preset.schemes.some((scheme) => fits(scheme, secret)));
  const { body, declaredBytes } = request;
  return [
    ...(misfit ? [`the secret is not ${preset.schemes.map(secretForm).join(" or ")}`] : []),
    ...(declaredBytes === undefined
      ? []
      : [`the body was cut: it has ${body.length} bytes, content-length is ${declaredBytes}`]),
  ];
}

function similarHeaders(head: RequestHead, code: ProblemCode): string[] {
  const names = head.headers.map(([name]) => name)
    .filter((name) => /signature|hmac|token|authorization/.test(name));
  return code !== "missing_signature" || names.length === 0
    ? []
    : [`the request has other headers that look like a proof: ${names.join(", ")}`];
}

function causeOf(head: RequestHead, given: Attempted, nowMs: number): string[] {
  const timeless = (schemes: readonly Scheme[]) =>
    schemes.map((scheme) => withTolerance(scheme, Number.MAX_SAFE_INTEGER));
  const anyTime = { ...given, schemes: timeless(given.schemes) };
  if (verdictOf(head, anyTime, nowMs).ok) {
    return ["only the time is the matter: the signature is right, but not for now"];
  }
  const found = variationsOf(given).find(({ change }) => {
    const changed = { ...given, ...change };
    return verdictOf(head, { ...changed, schemes: timeless(changed.schemes) }, nowMs).ok;
  });
  return found === undefined ? [] : [found.cause];
}

function verdictOf(head: RequestHead, given: Attempted, nowMs: number): Verdict {
  const { schemes, secrets, url, body } = given;
  const result = verifierFor(schemes, secrets)(called(head, url), nowMs);
  if (isVerdict(result)) return result;
  result.update(body);
  return result.finish(body);
}
