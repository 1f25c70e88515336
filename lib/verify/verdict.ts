import type { ProblemCode } from "../errors.ts";

/** A refusal: `detail` names header and cause, never a secret nor the expected value. */
export interface Refusal {
  ok: false;
  code: ProblemCode;
  detail: string;
}

export type Verdict = { ok: true } | Refusal;

export const PASSED: Verdict = { ok: true };

/** Makes a refusal; `fact` is the end of "cannot verify request: …". */
export function refuse(code: ProblemCode, fact: string): Refusal {
  return { ok: false, code, detail: `cannot verify request: ${fact}` };
}

/** The refusal of a body that must be whole in memory to be verified, and is not. */
export function tooLarge(why: string): Refusal {
  return refuse("payload_too_large", `${why}, and the body is larger than 1 MiB`);
}

/** A verification under way, fed while the body streams. */
export interface BodyCheck {
  update(chunk: Uint8Array): void;
  /** `whole` is the body where it is at most `LIMITS.wholeBodyBytes`, else `undefined`. */
  finish(whole: Uint8Array | undefined): Verdict;
}

/** Tells a started check from a verdict that needed no body. */
export function isVerdict(result: BodyCheck | Verdict): result is Verdict {
  return "ok" in result;
}

/** Passes where any of the checks does; else the first one's refusal stands. */
export function anyOf(results: readonly (BodyCheck | Verdict)[]): BodyCheck | Verdict {
  const checks = results.filter((result): result is BodyCheck => !isVerdict(result));
  const verdicts = results.filter(isVerdict);
  if (verdicts.some((verdict) => verdict.ok)) return PASSED;
  if (checks.length === 0) {
    return verdicts[0] ?? refuse("bad_signature", "no configured secret is usable");
  }
  return {
    update: (chunk) => checks.forEach((check) => check.update(chunk)),
    finish(whole) {
      const ends = checks.map((check) => check.finish(whole));
      return ends.find((end) => end.ok) ?? ends[0];
    },
  };
}

/** Tells a refusal from whatever else a step may give. */
export function isRefusal(result: object): result is Refusal {
  return "ok" in result && result.ok === false;
}
