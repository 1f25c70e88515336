import { Buffer } from "node:buffer";

/** Every post carries its number and the moment it was sent; the sink reads both. */
export const SEQUENCE_HEADER = "bench-sequence";
export const SENT_AT_HEADER = "bench-sent-at";

const SEQUENCE_DIGITS = 10;
/** Epoch milliseconds with three decimals. */
const SENT_AT_CHARS = 17;

/** One request in memory whose number and time are written over for each sending. */
export class StampedRequest {
  readonly bytes: Buffer;
  readonly #numbersAt: readonly number[];
  readonly #sentAtAt: number;

  /** `run` keeps the event ids of several runs on one store apart. */
  constructor(path: string, bodyBytes: number, run: string) {
    const number = "0".repeat(SEQUENCE_DIGITS);
    const head = [
      `POST ${path} HTTP/1.1`,
      "host: 127.0.0.1",
      "user-agent: holdfast-bench",
      "content-type: application/octet-stream",
      `content-length: ${bodyBytes}`,
      `idempotency-key: ${run}-${number}`,
      `${SEQUENCE_HEADER}: ${number}`,
      `${SENT_AT_HEADER}: ${"0".repeat(SENT_AT_CHARS)}`,
      "\r\n",
    ].join("\r\n");
    this.bytes = Buffer.alloc(head.length + bodyBytes, "x");
    this.bytes.write(head, "latin1");
    this.#numbersAt = [
      head.indexOf(`-${number}`) + 1,
      head.indexOf(`: ${number}`) + 2,
    ];
    this.#sentAtAt = head.indexOf(SENT_AT_HEADER) + SENT_AT_HEADER.length + 2;
  }

  stamp(sequence: number, sentAtMs: number): void {
    const digits = String(sequence).padStart(SEQUENCE_DIGITS, "0");
    for (const at of this.#numbersAt) this.bytes.write(digits, at, "latin1");
    this.bytes.write(sentAtMs.toFixed(3), this.#sentAtAt, "latin1");
  }
}
