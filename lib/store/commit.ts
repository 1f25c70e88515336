import { StoreUnavailable } from "../errors.ts";
import { KV, LIMITS } from "../limits.ts";
import type { Clock } from "../ports.ts";
import { keys } from "./keys.ts";
import type { Kv } from "./kv.ts";
import type { Count, Mutation, Write, WriteResult } from "./write.ts";

interface Waiting {
  write: Write;
  checkKeys: string[];
  keyBytes: number;
  sinceMs: number;
  settled: boolean;
  resolve: (result: WriteResult) => void;
  reject: (error: StoreUnavailable) => void;
}

/** Two commits under way keep the store busy while the next batch forms. */
const IN_FLIGHT = 2;
/** Commits without an answer, from which on no further one is begun. */
const UNANSWERED = 16;
/** Longest wait for company, and the share of the last batch that ends it early. */
const GATHER_MS = 1;
const GATHER_SHARE = 0.8;
/** SQLite answers so when another process holds the file; nothing was written then. */
const LOCKED = /database is locked|database table is locked/;
/** A server of KV Connect that takes fewer checks than the runtime says so; nothing was written. */
const TOO_MANY_CHECKS = /too many checks/i;
/** What passes another limit of KV is refused as a whole, and nothing of it was written either. */
const TOO_MUCH = /too (many|large)/i;
const LOCKED_PAUSE_MS = 25;
const OVERDUE_CHECK_MS = 250;

/**
 * Shares commits: writes that arrive while a commit is under way go out together as one
 * atomic operation, within KV's limits. Every caller gets the result of its own write.
 */
export class Committer {
  #kv: Kv;
  #clock: Clock;
  #tryMs: number;
  #queue: Waiting[] = [];
  #running = new Set<Waiting[]>();
  /** Commits that were passed over: the store may yet answer. */
  #unanswered = new Set<Waiting[]>();
  #open = new Set<Waiting>();
  #cancelOverdueCheck: (() => void) | undefined;
  #lastBatch = 0;
  #lastEndMs = -Infinity;
  #cancelGathering: (() => void) | undefined;
  /** Checks that the store takes in one commit; fewer once it has said so. */
  #checks: number = KV.checks;
  /** The wait is over: the next batch goes as it is. */
  #gathered = false;

  /** `tryMs` is how long one write may take, waiting included. */
  constructor(kv: Kv, clock: Clock, tryMs: number = LIMITS.storeTryMs) {
    this.#kv = kv;
    this.#clock = clock;
    this.#tryMs = tryMs;
  }

  /**
   * Applies a write, together with others of the same moment. `{ ok: false }` says that
   * one of its own checks failed. Rejects with `StoreUnavailable` when the store failed
   * or took longer than one try may; whether the write landed is then unknown.
   */
  commit(write: Write): Promise<WriteResult> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        write,
        checkKeys: write.checks.map((check) => JSON.stringify(check.key)),
        keyBytes: keyBytesOf(write),
        sinceMs: this.#clock.monotonicMs(),
        settled: false,
        resolve,
        reject,
      };
      this.#queue.push(waiting);
      this.#open.add(waiting);
      this.#watchOverdue();
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#running.size < IN_FLIGHT && this.#queue.length > 0) {
      if (this.#isGathering()) return;
      const batch = takeBatch(this.#queue, this.#checks);
      if (batch.length === 0) continue;
      this.#running.add(batch);
      this.#run(batch).finally(() => {
        this.#running.delete(batch);
        this.#unanswered.delete(batch);
        this.#lastBatch = batch.length;
        this.#lastEndMs = this.#clock.monotonicMs();
        this.#pump();
      });
    }
  }

  /** A commit that nobody waits for any more makes way for the next one. */
  #passOverdue(): void {
    for (const batch of this.#running) {
      if (this.#unanswered.size >= UNANSWERED || !batch.every(({ settled }) => settled)) continue;
      this.#running.delete(batch);
      this.#unanswered.add(batch);
    }
    this.#pump();
  }

  /**
   * Whether to wait a moment for company. The callers of a batch that has just ended come
   * back at about the same time: the first of them alone is not worth a flush to disk.
   */
  #isGathering(): boolean {
    if (this.#gathered) {
      this.#gathered = false;
      return false;
    }
    const idle = this.#running.size === 0 &&
      this.#clock.monotonicMs() - this.#lastEndMs > GATHER_MS;
    if (idle || this.#queue.length >= this.#lastBatch * GATHER_SHARE) return false;
    this.#cancelGathering ??= this.#clock.after(GATHER_MS, () => {
      this.#cancelGathering = undefined;
      this.#gathered = true;
      this.#pump();
    });
    return true;
  }

  /**
   * Commits a batch; where a check failed, or one write is more than the store takes, halves
   * it until each failure stands alone, and where it has too many checks, until it fits.
   */
  async #run(batch: Waiting[]): Promise<void> {
    let result: WriteResult;
    try {
      result = await this.#commitUnlocked(batch);
    } catch (error) {
      const { message } = error as Error;
      if (TOO_MANY_CHECKS.test(message)) this.#checks = KV.remoteChecks;
      if (batch.length > 1 && TOO_MUCH.test(message)) return await this.#runHalves(batch);
      const failure = new StoreUnavailable(`cannot commit: ${message}`, { cause: error });
      for (const waiting of batch) this.#settle(waiting, () => waiting.reject(failure));
      return;
    }
    if (result.ok || batch.length === 1) {
      for (const waiting of batch) this.#settle(waiting, () => waiting.resolve(result));
      return;
    }
    await this.#runHalves(batch);
  }

  async #runHalves(batch: Waiting[]): Promise<void> {
    const middle = batch.length >> 1;
    await this.#run(batch.slice(0, middle));
    await this.#run(batch.slice(middle));
  }

  async #commitUnlocked(batch: Waiting[]): Promise<WriteResult> {
    for (;;) {
      try {
        return await buildOperation(this.#kv, batch).commit();
      } catch (error) {
        const late = batch.every((waiting) => waiting.settled);
        if (late || !LOCKED.test((error as Error).message)) throw error;
        await new Promise<void>((resolve) => this.#clock.after(LOCKED_PAUSE_MS, resolve));
      }
    }
  }

  #settle(waiting: Waiting, answer: () => void): void {
    if (waiting.settled) return;
    waiting.settled = true;
    this.#open.delete(waiting);
    answer();
  }

  #watchOverdue(): void {
    this.#cancelOverdueCheck ??= this.#clock.after(OVERDUE_CHECK_MS, () => {
      this.#cancelOverdueCheck = undefined;
      this.#rejectOverdue();
      this.#passOverdue();
      if (this.#open.size > 0) this.#watchOverdue();
    });
  }

  /** What still waits in the queue when its time is over is not written, nor kept, any more. */
  #rejectOverdue(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const waiting of this.#open) {
      if (nowMs - waiting.sinceMs < this.#tryMs) break;
      const failure = new StoreUnavailable(`cannot commit: no answer for ${this.#tryMs} ms`);
      this.#settle(waiting, () => waiting.reject(failure));
    }
    this.#queue = this.#queue.filter(({ settled }) => !settled);
  }
}

/**
 * Takes writes from the queue's front while they fit one operation. Two writes that check
 * the same key never share one: both checks would see the state before, and both pass.
 */
function takeBatch(queue: Waiting[], maxChecks: number): Waiting[] {
  const batch: Waiting[] = [];
  const left: Waiting[] = [];
  const taken = new Set<string>();
  let checks = 0, mutations = 0, bytes = 0, keyBytes = 0, index = 0;
  for (; index < queue.length; index++) {
    const waiting = queue[index];
    if (waiting.settled) continue;
    const { write } = waiting;
    checks += write.checks.length;
    // Counters are summed, so a write adds at most as many as it names.
    mutations += write.mutations.length + (write.counts?.length ?? 0);
    // KV counts a mutation's key among the keys and once more with its value.
    bytes += write.bytes + 2 * waiting.keyBytes;
    keyBytes += waiting.keyBytes;
    const full = checks > maxChecks || mutations > KV.mutations || bytes > KV.commitBytes ||
      keyBytes > KV.keyBytes;
    if (full && batch.length > 0) break;
    const clash = waiting.checkKeys.some((key) => taken.has(key));
    for (const key of waiting.checkKeys) taken.add(key);
    (clash ? left : batch).push(waiting);
  }
  queue.splice(0, index, ...left);
  return batch;
}

function buildOperation(kv: Kv, batch: readonly Waiting[]): Deno.AtomicOperation {
  const operation = kv.atomic();
  const sums = new Map<string, { count: Count; n: number }>();
  for (const { write } of batch) {
    operation.check(...write.checks);
    for (const mutation of write.mutations) applyMutation(operation, mutation);
    for (const count of write.counts ?? []) {
      const name = `${count.endpoint}/${count.minute}/${count.name}`;
      const sum = sums.get(name);
      if (sum === undefined) sums.set(name, { count, n: count.n });
      else sum.n += count.n;
    }
  }
  for (const { count, n } of sums.values()) {
    operation.sum(keys.stat(count.endpoint, count.minute, count.name), BigInt(n));
  }
  return operation;
}

function applyMutation(operation: Deno.AtomicOperation, mutation: Mutation): void {
  if (mutation.type === "delete") operation.delete(mutation.key);
  else if (mutation.expireIn === undefined) operation.set(mutation.key, mutation.value);
  else operation.set(mutation.key, mutation.value, { expireIn: mutation.expireIn });
}

function keyBytesOf(write: Write): number {
  let bytes = 0;
  for (const { key } of write.checks) bytes += sizeOfKey(key);
  for (const { key } of write.mutations) bytes += sizeOfKey(key);
  return bytes + (write.counts?.length ?? 0) * COUNTER_KEY_BYTES;
}

const COUNTER_KEY_BYTES = 128;

/** Upper estimate of an encoded key: text up to 3 bytes a unit, numbers 9, two marks a part. */
function sizeOfKey(key: Deno.KvKey): number {
  let bytes = 0;
  for (const part of key) bytes += typeof part === "string" ? asciiOrWorst(part) + 2 : 11;
  return bytes;
}

function asciiOrWorst(text: string): number {
  // deno-lint-ignore no-control-regex
  return /^[\x01-\x7f]*$/.test(text) ? text.length : text.length * 3;
}
