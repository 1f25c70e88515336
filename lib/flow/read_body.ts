import { createHash } from "node:crypto";
import { LIMITS } from "../limits.ts";
import { type Problem, problem } from "../errors.ts";
import type { Clock } from "../ports.ts";
import type { Store } from "../store/kv.ts";
import { Staging } from "../store/staging.ts";
import { type BodyReader, openBody } from "./body_reader.ts";
import type { Timeouts } from "./timeouts.ts";
import type { BodyCheck } from "../verify/sender.ts";

/** A request's body as the server hands it over. */
export interface BodySource {
  /** From Content-Length; `undefined` for chunked bodies. */
  declaredBytes: number | undefined;
  stream: ReadableStream<Uint8Array> | null;
  /** Reads it whole, faster than through the stream. Rejects if the sender hangs up. */
  whole: () => Promise<Uint8Array>;
}

export interface ReadParts {
  store: Store;
  clock: Clock;
  timeouts: Timeouts;
}

/** A body that was read to its end. */
export interface ReadBody {
  bytes: number;
  sha256: string;
  /** The body where it is at most `LIMITS.wholeBodyBytes`. */
  whole: Uint8Array | undefined;
  /** The first row's share, for a body that is staged. */
  first: Uint8Array;
  /** Where the rest is, for a body too large for one commit. */
  staging: Staging | undefined;
}

/** Least speed of a sender after its first 30 s; slower ones hold memory for nothing. */
const MIN_BYTES_PER_MS = 8;
/** No body may take longer: below `LIMITS.stagingMs`, so that none is swept while it arrives. */
const LONGEST_BODY_MS = 10 * 60_000;
/** A body past its limit is read on and thrown away, so that its sender reads the 413. */
const DISCARD_BYTES = 256 * 1_048_576;
const DISCARD_MS = 10_000;
const NO_BYTES = new Uint8Array(0);

/**
 * Reads a body: counts, hashes and checks it on the way, keeps a small one, stages a large
 * one in chunks. Refuses what is too large, stands still or ends early; then nothing of
 * it stays stored. Rejects with `StoreUnavailable`.
 */
export async function readBody(
  parts: ReadParts,
  source: BodySource,
  deliveryId: string,
  maxBytes: number,
  firstRowBytes: number,
  check: BodyCheck | undefined,
): Promise<ReadBody | Problem> {
  const { declaredBytes } = source;
  if (declaredBytes !== undefined && declaredBytes > maxBytes) {
    if (source.stream !== null) await discardRest(parts.clock, openBody(source.stream));
    return tooLarge(maxBytes, declaredBytes);
  }
  if (declaredBytes !== undefined && declaredBytes <= LIMITS.chunkBytes) {
    return await readSmall(parts.timeouts, source, declaredBytes, check);
  }
  const reading = new Reading(parts, source, deliveryId, maxBytes, firstRowBytes, check);
  return await reading.run();
}

async function readSmall(
  timeouts: Timeouts,
  source: BodySource,
  declaredBytes: number,
  check: BodyCheck | undefined,
): Promise<ReadBody | Problem> {
  const whole = declaredBytes === 0 ? NO_BYTES : await timeouts.race(
    source.whole().catch(() => "broken" as const),
    LIMITS.bodyIdleMs,
    "timeout" as const,
  );
  if (whole === "timeout") return stoodStill();
  if (whole === "broken" || whole.length !== declaredBytes) return incomplete();
  check?.update(whole);
  const sha256 = createHash("sha256").update(whole).digest("hex");
  return { bytes: whole.length, sha256, whole, first: whole, staging: undefined };
}

/** One large or chunked body on its way in. */
class Reading {
  readonly #hash = createHash("sha256");
  readonly #kept: Uint8Array[] = [];
  #bytes = 0;
  #staging: Staging | undefined;
  #first: Uint8Array = NO_BYTES;
  #whole: Uint8Array | undefined;

  constructor(
    private readonly parts: ReadParts,
    private readonly source: BodySource,
    private readonly deliveryId: string,
    private readonly maxBytes: number,
    private readonly firstRowBytes: number,
    private readonly check: BodyCheck | undefined,
  ) {}

  async run(): Promise<ReadBody | Problem> {
    let refused: Problem | undefined = incomplete();
    try {
      refused = await this.#readAll();
      if (refused === undefined) return await this.#finish();
      return refused;
    } finally {
      if (refused !== undefined) await this.#staging?.discard();
    }
  }

  async #readAll(): Promise<Problem | undefined> {
    if (this.source.stream === null) return undefined;
    const reader = openBody(this.source.stream);
    const { clock } = this.parts;
    const sinceMs = clock.monotonicMs();
    for (;;) {
      const usedMs = clock.monotonicMs() - sinceMs;
      const allowedMs = Math.min(
        LIMITS.bodyIdleMs + this.#bytes / MIN_BYTES_PER_MS,
        LONGEST_BODY_MS,
      );
      const read = await within(
        clock,
        Math.min(LIMITS.bodyIdleMs, allowedMs - usedMs),
        reader.read(),
      );
      if (read === "timeout" || read === "broken") {
        reader.cancel();
        return read === "timeout" ? stoodStill() : incomplete();
      }
      if (read === undefined) break;
      if (this.#bytes + read.length > this.maxBytes) {
        await discardRest(clock, reader);
        return tooLarge(this.maxBytes, undefined);
      }
      await this.#take(read);
    }
    const { declaredBytes } = this.source;
    return declaredBytes !== undefined && declaredBytes !== this.#bytes ? incomplete() : undefined;
  }

  /** `bytes` is overwritten by the next read: what is kept is copied. */
  async #take(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
    this.check?.update(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes <= LIMITS.wholeBodyBytes || this.#staging === undefined) {
      this.#kept.push(bytes.slice());
    }
    if (this.#staging !== undefined) await this.#staging.write(bytes);
    else if (this.#bytes > LIMITS.inlineBodyBytes) await this.#beginStaging();
    if (this.#bytes > LIMITS.wholeBodyBytes) this.#kept.length = 0;
  }

  /** What was kept so far goes to the store; from here on each piece follows as it comes. */
  async #beginStaging(): Promise<void> {
    const soFar = concat(this.#kept, this.#bytes);
    this.#first = soFar.slice(0, this.firstRowBytes);
    this.#staging = new Staging(this.parts.store, this.deliveryId);
    await this.#staging.write(soFar.subarray(this.firstRowBytes));
  }

  async #finish(): Promise<ReadBody> {
    await this.#staging?.finish();
    if (this.#bytes <= LIMITS.wholeBodyBytes) this.#whole = concat(this.#kept, this.#bytes);
    return {
      bytes: this.#bytes,
      sha256: this.#hash.digest("hex"),
      whole: this.#whole,
      first: this.#staging === undefined ? this.#whole ?? NO_BYTES : this.#first,
      staging: this.#staging,
    };
  }
}

function concat(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  if (pieces.length === 1) return pieces[0];
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Waits for a read of the socket, but not for ever. */
async function within<T>(
  clock: Clock,
  ms: number,
  reading: Promise<T>,
): Promise<T | "timeout" | "broken"> {
  let cancel = () => {};
  const timeout = new Promise<"timeout">((resolve) => {
    cancel = clock.after(Math.max(0, ms), () => resolve("timeout"));
  });
  try {
    return await Promise.race([reading.catch(() => "broken" as const), timeout]);
  } finally {
    cancel();
  }
}

async function discardRest(clock: Clock, reader: BodyReader): Promise<void> {
  const endMs = clock.monotonicMs() + DISCARD_MS;
  for (let bytes = 0; bytes < DISCARD_BYTES;) {
    const read = await within(clock, endMs - clock.monotonicMs(), reader.read());
    if (read === "timeout" || read === "broken" || read === undefined) break;
    bytes += read.length;
  }
  reader.cancel();
}

function tooLarge(maxBytes: number, declaredBytes: number | undefined): Problem {
  const size = declaredBytes === undefined ? `more than ${maxBytes}` : `${declaredBytes}`;
  return problem(
    "payload_too_large",
    `cannot accept the body: its size is ${size} bytes, the limit is ${maxBytes}`,
  );
}

const stoodStill = () =>
  problem("body_timeout", "cannot accept the body: it did not arrive in time");
const incomplete = () =>
  problem("body_incomplete", "cannot accept the body: it ended before its announced length");
