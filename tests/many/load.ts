import { createHash } from "node:crypto";
import { type PostAnswer, tryPost } from "../helpers/post.ts";
import type { Relay } from "../helpers/program.ts";
import { pause } from "../helpers/wait.ts";
import type { Dice } from "../sim/dice.ts";

/** One event, and the delivery that it became by all that its sender was told. */
export interface Sent {
  endpoint: string;
  eventId: string;
  sha256: string;
  deliveryIds: Set<string>;
}

const UNORDERED = ["demo", "flaky"];
const SENDERS = 8;
/** Every so many events are larger than one commit. */
const LARGE_EVERY = 40;
const LARGE_BYTES = 700_000;
const PAUSE_MS = 30;

/** Senders that post until they are told yes, a fourth of the events at all programs at once. */
export class Load {
  readonly sent: Sent[] = [];
  /** Posts that were answered with success. */
  answers = 0;
  readonly #relays: readonly Relay[];
  readonly #dice: Dice;
  readonly #total: number;
  #begun = 0;

  constructor(relays: readonly Relay[], dice: Dice, total: number) {
    this.#relays = relays;
    this.#dice = dice;
    this.#total = total;
  }

  /** How much of the load has been accepted, from 0 to 1. */
  get progress(): number {
    return this.sent.length / this.#total;
  }

  /** Ends once every event was accepted. One sender keeps the order on `line`. */
  async run(): Promise<void> {
    const ordered = Math.floor(this.#total / 4);
    const others = Array.from({ length: SENDERS }, () => this.#sendAll(this.#total - ordered));
    await Promise.all([this.#sendLine(ordered), ...others]);
  }

  async #sendAll(total: number): Promise<void> {
    while (this.#begun < total) {
      const number = ++this.#begun;
      const bytes = number % LARGE_EVERY === 0 ? LARGE_BYTES : this.#dice.int(10, 3_000);
      await this.#send(this.#dice.pick(UNORDERED), `e${number}`, bytes);
    }
  }

  async #sendLine(total: number): Promise<void> {
    for (let number = 0; number < total; number++) await this.#send("line", String(number), 100);
  }

  async #send(endpoint: string, eventId: string, bytes: number): Promise<void> {
    const body = `${eventId}:`.padEnd(bytes, "x");
    const deliveryIds = new Set<string>();
    while (deliveryIds.size === 0) {
      const some = this.#dice.chance(0.25) ? this.#relays : [this.#dice.pick(this.#relays)];
      const headers = { "x-request-id": eventId };
      const answers = await Promise.all(
        some.map((relay) => tryPost(relay, endpoint, { body, headers })),
      );
      for (const { deliveryId } of answers.filter(isYes)) {
        this.answers++;
        deliveryIds.add(deliveryId);
      }
      if (deliveryIds.size === 0) await pause(PAUSE_MS);
    }
    const sha256 = createHash("sha256").update(body).digest("hex");
    this.sent.push({ endpoint, eventId, sha256, deliveryIds });
  }
}

const isYes = (answer: PostAnswer | undefined): answer is PostAnswer =>
  answer !== undefined && (answer.http === 200 || answer.http === 202);
