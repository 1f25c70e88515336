/** Reproducible randomness: equal seeds throw equal numbers (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds must not begin alike.
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  }

  /** A number in [0, 1). */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };

  /** A whole number, both ends included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)];
  }
}
