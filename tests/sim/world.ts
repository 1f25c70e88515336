/** Whose events they are: those of a dead one never happen. */
export interface Actor {
  readonly name: string;
  alive: boolean;
}

interface Event {
  atMs: number;
  order: number;
  fn: () => void;
  actor: Actor | undefined;
  cancelled: boolean;
}

/** Virtual time begins here, so that ids and times look real. */
const START_MS = Date.UTC(2030, 0, 1);

/**
 * Virtual time and everything that is going to happen. Nothing in a simulation waits for
 * real time: after each event all promises are let run until they stand still, then time
 * jumps to the next event.
 */
export class World {
  nowMs = START_MS;
  /** What happened, for the story of a failed seed. */
  readonly story: string[] = [];
  readonly #heap: Event[] = [];
  #order = 0;

  /** Has something happen in `delayMs`; the returned function calls it off. */
  after(delayMs: number, fn: () => void, actor?: Actor): () => void {
    const event = {
      atMs: this.nowMs + Math.max(0, Math.ceil(delayMs)),
      order: this.#order++,
      fn,
      actor,
      cancelled: false,
    };
    this.#push(event);
    return () => event.cancelled = true;
  }

  /** Lets time pass until `untilMs`, or until `isOver` says so. */
  async run(untilMs: number, isOver: () => boolean = () => false): Promise<void> {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.atMs > untilMs || isOver()) break;
      this.#pop();
      if (next.cancelled || next.actor?.alive === false) continue;
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.fn();
      const leapMs = (this.#heap[0]?.atMs ?? Infinity) - this.nowMs;
      await promises(leapMs > LEAP_MS ? MANY_TURNS : TURNS);
    }
    if (!isOver()) this.nowMs = Math.max(this.nowMs, untilMs);
  }

  /** Notes something for the story. */
  tell(text: string): void {
    const seconds = ((this.nowMs - START_MS) / 1_000).toFixed(3);
    this.story.push(`${seconds.padStart(9)}  ${text}`);
  }

  get elapsedMs(): number {
    return this.nowMs - START_MS;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent])) break;
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child++;
      if (!isBefore(heap[child], last)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = last;
  }
}

const isBefore = (a: Event, b: Event) =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/**
 * So many turns of the promise queue are let run after an event, and more before time leaps:
 * several times what the longest chain of awaits in the relay takes. Turns are counted since
 * a turn of the event loop costs over a millisecond on some versions of Deno.
 */
const TURNS = 100;
const MANY_TURNS = 500;
const LEAP_MS = 20;

async function promises(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await undefined;
}
